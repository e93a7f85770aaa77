// The pages in a real browser (Debian's chromium), with personal data and without: every kind of page, and an address
// that leads nowhere, of a mirror with everything in it and of one with nothing.

import { beforeAll, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openStatusPage } from '../../support/status-page.ts';
import { LOOKS, type Look, lookAt } from './browser-look.ts';
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
  ...(Object.keys(LOOKS) as Look[]).map((look) => ['filled', look, false] as const),
  ['filled', 'light', true] as const,
  ['empty', 'phone', false] as const,
])('a mirror that is %s, %s, with people %s', async (mirror, look, withPeople) => {
  const piiPassword = 'people-see';
  const { url } = await openStatusPage(mirror === 'filled' ? filled : empty, {}, { piiPassword });
  const isThere = (place: string) =>
    mirror === 'filled' ? !place.endsWith('/999') : !/\/(\d+|of\?.*)$/.test(place);
  const places = Object.fromEntries(PLACES.map((place) => [place, isThere(place) ? 200 : 404]));
  await lookAt({ url, look, places, ...(withPeople && { piiPassword }) });
});
