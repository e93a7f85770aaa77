// Looks at pages as people do: in Debian's chromium, light, dark, on a phone and without JavaScript. Nothing may be
// wrong with what is seen there.

import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContextOptions } from 'playwright-core';
import { expect } from 'vitest';
import { openBrowser } from '../../support/browser.ts';

const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 640 } },
  'without JavaScript': {
    colorScheme: 'dark',
    javaScriptEnabled: false,
    viewport: { width: 360, height: 640 },
  },
} as const satisfies Readonly<Record<string, BrowserContextOptions>>;

export type Look = keyof typeof LOOKS;

export interface Seeing {
  readonly url: string;
  readonly look: Look;
  /** Each with the status that it must have. */
  readonly places: Readonly<Record<string, number>>;
  /** With which personal data are shown. */
  readonly piiPassword?: string;
}

/** Smaller letters are not read. Units: pixels of CSS. */
const LEAST_LETTERS = 9;

/**
 * Opens each page, and fails where one has another status, says something on the console, asks another host, breaks a
 * rule of axe, is wider than the window, or has letters that nobody can read.
 */
export async function lookAt({ url, look, places, piiPassword }: Seeing): Promise<void> {
  const context = await (await openBrowser()).newContext({
    ...LOOKS[look],
    ...(piiPassword !== undefined && { httpCredentials: { username: 'somebody', password: piiPassword } }),
  });
  const page = await context.newPage();
  const problems: string[] = [];
  let expected = 200;
  page.on('console', (message) => {
    // A browser says so itself of every answer that is no success; which one it is, is asserted below.
    const isOfStatus = new RegExp(
      `^Failed to load resource: the server responded with a status of ${expected} \\([\\w ]+\\)$`,
    );
    const isBad = ['error', 'warning'].includes(message.type());
    if (isBad && !(expected !== 200 && isOfStatus.test(message.text()))) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${url}/`) || request.url().startsWith('data:');
    if (!isOwn) problems.push(request.url());
  });
  if (piiPassword !== undefined) await page.goto(`${url}/personal-data?back=/runs`);
  for (const [place, status] of Object.entries(places)) {
    expected = status;
    const response = await page.goto(url + place, { waitUntil: 'load' });
    expect(response?.status(), place).toBe(status);
    expect(await page.locator('h1').count(), place).toBe(1);
    const wider = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
    expect(wider, `${place} is wider than the window`).toBeLessThanOrEqual(0);
    const letters = (await page.evaluate(LETTERS)) as number[];
    for (const size of letters) expect(size, place).toBeGreaterThanOrEqual(LEAST_LETTERS);
    // It runs in the page.
    if (look === 'without JavaScript') continue;
    // Without frames, the result needs no page of its own: that is the most of what a look takes.
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
    expect(violations.map(({ id, nodes }) => `${place} ${id}: ${nodes.map(({ target }) => target)}`)).toEqual(
      [],
    );
  }
  expect(problems).toEqual([]);
  await context.close();
}

/** How large the letters of charts are on the screen. */
const LETTERS = `[...document.querySelectorAll('svg.plot')].map((plot) => {
  const text = plot.querySelector('text');
  const scale = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
  return parseFloat(getComputedStyle(text).fontSize) * scale;
})`;
