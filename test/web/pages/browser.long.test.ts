// The pages in a real browser (Debian's chromium): light, dark, on a phone and without JavaScript, with personal data
// and without, nothing is wrong with any of them.

import { AxeBuilder } from '@axe-core/playwright';
import { type BrowserContextOptions, chromium } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { afterFile } from '../../support/after-file.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openStatusPage } from '../../support/status-page.ts';
import { storeFindings } from './store-findings.ts';

const PLACES = [
  '/runs',
  '/runs/1',
  '/runs/2',
  '/runs/3',
  '/payments',
  '/payments/ledger?state=failed',
  '/payments/7',
  '/payments/batches/of?request=2',
  '/data',
  '/charts',
  '/charts?days=365',
  '/runs/999',
];

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 640 } },
  'without JavaScript': { colorScheme: 'dark', javaScriptEnabled: false },
};
/** Smaller letters are not read. Units: pixels of CSS. */
const LEAST_LETTERS = 9;

let filled: TestDatabase;
let empty: TestDatabase;

beforeAll(async () => {
  filled = await createTestDatabase();
  empty = await createTestDatabase();
  await storeFindings(filled.pool);
});

test.each([
  ...Object.keys(LOOKS).map((look) => ['filled', look, false] as const),
  ['filled', 'light', true] as const,
  ['empty', 'phone', false] as const,
])('a mirror that is %s, %s, with people %s', async (mirror, look, withPeople) => {
  const site = await openStatusPage(mirror === 'filled' ? filled : empty, {}, { piiPassword: 'people-see' });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  });
  afterFile(() => browser.close());
  const context = await browser.newContext({
    ...LOOKS[look],
    ...(withPeople && { httpCredentials: { username: 'somebody', password: 'people-see' } }),
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    // Of the page itself, which is asserted below.
    const isMissing = message.text().includes('status of 404');
    if (['error', 'warning'].includes(message.type()) && !isMissing) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(site.url) && !request.url().startsWith('data:'))
      problems.push(request.url());
  });
  if (withPeople) await page.goto(`${site.url}/personal-data?back=/runs`);
  for (const place of PLACES) {
    const response = await page.goto(site.url + place, { waitUntil: 'load' });
    const isThere = mirror === 'filled' ? !place.endsWith('/999') : !/\/(\d+|of\?.*)$/.test(place);
    expect(response?.status(), place).toBe(isThere ? 200 : 404);
    if (look === 'without JavaScript') {
      expect(await page.locator('h1').count(), place).toBe(1);
      continue;
    }
    expect(
      await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
      place,
    ).toBeLessThanOrEqual(0);
    const letters = (await page.evaluate(LETTERS)) as number[];
    for (const size of letters) expect(size, place).toBeGreaterThanOrEqual(LEAST_LETTERS);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${place} ${id}: ${nodes.map(({ target }) => target)}`)).toEqual(
      [],
    );
  }
  expect(problems).toEqual([]);
  await browser.close();
});

/** How large the letters of charts are on the screen. */
const LETTERS = `[...document.querySelectorAll('svg.plot')].map((plot) => {
  const text = plot.querySelector('text');
  const scale = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
  return parseFloat(getComputedStyle(text).fontSize) * scale;
})`;
