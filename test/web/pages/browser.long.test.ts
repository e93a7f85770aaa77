// The pages in a real browser (Debian's chromium), with personal data and without: every kind of page, and an address
// that leads nowhere, of a mirror with everything in it and of one with nothing.

import { beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openStatusPage } from '../../support/status-page.ts';
import { LOOKS, lookAt } from './browser-look.ts';
import { RUNS, storeFindings } from './store-findings.ts';

const PLACES = [
  '/',
  '/runs',
  ...Object.values(RUNS).map((id) => `/runs/${id}`),
  '/payments',
  '/payments/ledger?state=failed',
  '/payments/7',
  '/payments/batches/of?request=2',
  '/data',
  '/charts',
  '/charts?days=365',
  '/runs/999',
];

let filled: TestDatabase;
let empty: TestDatabase;

beforeAll(async () => {
  filled = await createTestDatabase();
  empty = await createTestDatabase();
  await storeFindings(filled.pool);
});

test.each([
  ['filled', 'light', true],
  ['filled', 'dark', false],
  ['filled', 'phone', false],
  ['filled', 'without JavaScript', false],
  ['empty', 'phone', false],
] as const)('a mirror that is %s, %s, with people %s', async (mirror, look, withPeople) => {
  const piiPassword = 'people-see';
  const { url } = await openStatusPage(mirror === 'filled' ? filled : empty, {}, { piiPassword });
  const isThere = (place: string) =>
    mirror === 'filled' ? !place.endsWith('/999') : !/\/(\d+|of\?.*)$/.test(place);
  const places = Object.fromEntries(PLACES.map((place) => [place, isThere(place) ? 200 : 404]));
  await lookAt({ url, look, places, ...(withPeople && { piiPassword }) });
});

/** A row of a table is no higher, whatever people wrote into it. Units: pixels of CSS. */
const MOST_HEIGHT = 200;

test.each(['light', 'phone'] as const)(
  'long texts do not stretch the rows of the payments: %s',
  async (look) => {
    const database = await createTestDatabase();
    await database.pool.query(`
    insert into commission_updates (commission_id, action, batch_id, reason, requested_by)
    select gen_random_uuid()::text, 'unpay', repeat('a long name of a batch ', 4), repeat('a long reason ', 60),
           repeat('somebody of the accounts ', 10)
    from generate_series(1, 3)`);
    await database.pool.query(`
    update commission_updates set state = 'conflict', outcome = repeat('a long answer ', 30), finished_at = now()`);
    const { url } = await openStatusPage(database, {}, { piiPassword: 'people-see' });
    const page = await (await openBrowser()).newPage({
      ...LOOKS[look],
      httpCredentials: { username: 'somebody', password: 'people-see' },
    });
    for (const place of ['/payments', '/payments/ledger']) {
      await page.goto(`${url}${place}`);
      const heights = await page
        .locator('section:not(#reasons) tr')
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      expect(heights.length).toBeGreaterThan(3);
      expect(Math.max(...heights)).toBeLessThan(MOST_HEIGHT);
    }
    await page.close();
  },
);
