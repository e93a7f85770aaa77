// The queries of docs/analysts.md on mirrors that are not like the demo's.

import { expect, test } from 'vitest';
import { storeEvents, storeRows } from '../../reports/store-rows.ts';
import { createTestDatabase } from '../../support/database.ts';
import { BLOCKS } from '../../support/read-docs.ts';

// Those over all programs need a list of programs.
const QUERIES = BLOCKS.filter(
  ({ page, language, text }) =>
    page === 'docs/analysts.md' && language === 'sql' && !text.includes('mirror_all.'),
);

test.each([
  ['an empty mirror', ''],
  // So its currency has no charges.
  ['one with a commission in another currency than its sale', `update commissions set currency = 'EUR'`],
  ['one whose charges are all 0', 'update sales set charge_amount_cents = 0'],
])('every query has an answer of %s', async (_, change) => {
  const { pool } = await createTestDatabase();
  if (change !== '') {
    await storeRows(pool);
    await storeEvents(pool);
    await pool.query(change);
  }
  expect(QUERIES.length).toBeGreaterThan(5);
  for (const { text } of QUERIES) await pool.query(text);
});
