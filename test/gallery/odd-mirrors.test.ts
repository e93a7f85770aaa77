// The queries of docs/analysts.md on mirrors that are not like the demo's.

import { expect, test } from 'vitest';
import { storeEvents, storeRows } from '../reports/store-rows.ts';
import { createTestDatabase } from '../support/database.ts';
import { BLOCKS } from '../support/read-docs.ts';

const QUERIES = BLOCKS.filter(({ page, language }) => page === 'docs/analysts.md' && language === 'sql');

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
  expect(QUERIES.length).toBeGreaterThan(20);
  for (const { text } of QUERIES) await pool.query(text);
});

test('who is owed the most comes before those of whom the program says nothing', async () => {
  const { pool } = await createTestDatabase();
  await storeRows(pool);
  const [query] = QUERIES.filter(
    ({ text }) => text.includes('affiliate_balances') && text.includes('limit 5'),
  );
  const { rows } = await pool.query(query?.text ?? '');
  expect(rows.map(({ currency, unpaid_cents }) => [currency, unpaid_cents])).toEqual([
    ['USD', '900'],
    [expect.any(String), null],
    [expect.any(String), null],
  ]);
});

test('what finance would pay is by affiliate also where names and addresses are left out', async () => {
  const { pool } = await createTestDatabase();
  await storeRows(pool);
  await pool.query(`
    update affiliates set first_name = null, last_name = null, email = null;
    update sales set affiliate_id = 'a2' where id = 's2';
    update commissions set sale_id = 's2' where id = 'new';
    update sales set refund_amount_cents = 0, sale_amount_cents = 500 where id = 's2'`);
  const [query] = QUERIES.filter(({ before }) => before.startsWith('What finance would pay today'));
  const { rows } = await pool.query(query?.text ?? '');
  expect(rows.map(({ commissions }) => commissions).toSorted()).toEqual([1, 2]);
});
