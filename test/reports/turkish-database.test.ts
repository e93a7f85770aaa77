// A database whose texts are Turkish makes İ of i and ı of I. Codes of currencies, and addresses, are of no language.

import { expect, test } from 'vitest';
import { requestUpdates } from '../../src/payments/ask/request-updates.ts';
import { readOwnBooks } from '../../src/payments/books/compare-books.ts';
import { plainRequest } from '../../src/payments/update-request.ts';
import { findAffiliates } from '../../src/reports/read-payable.ts';
import { readCurrencies } from '../../src/reports/read-payment-sums.ts';
import { createTestDatabaseIn } from '../support/database.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

const database = await createTestDatabaseIn('tr');
const db = database.db;
const own = `now(), now(), now()`;
await database.pool.query(`
  insert into affiliates (id, email, commission_stats, _first_seen_at, _changed_at, _observed_at)
  values ('a', 'INFO@Example.com', '{"currencies": {"inr": {"unpaid": {"cents": 5}}}}', ${own});
  insert into sales (id, affiliate_id, currency, charge_amount_cents, _first_seen_at, _changed_at, _observed_at)
  values ('s', 'a', 'inr', 50, ${own});
  insert into commissions (id, sale_id, amount, currency, due_at, _first_seen_at, _changed_at, _observed_at)
  values ('${ID}', 's', 5, 'inr', '2026-01-01Z', ${own})`);

const REPORTS = ['affiliate_balances', 'affiliate_performance', 'commission_aging', 'payouts_due'];
const VIEWS = [...REPORTS.map((name) => `mirror_reports.${name}`), 'commission_totals', 'unpaid_commissions'];

test.each(VIEWS)('currencies of %s are in the capitals that they have everywhere', async (view) => {
  const { rows } = await database.pool.query(`select currency from ${view}`);
  expect(rows).toEqual([{ currency: 'INR' }]);
});

test('a request expects the currency as the program has it', async () => {
  const asked = plainRequest({
    commission_id: ID,
    action: 'pay',
    paid_at: '2026-10-01Z',
    expected_currency: 'inr',
  });
  await requestUpdates({ db }, [asked], { batchId: null, requestedBy: null });
  await database.pool.query(`
    update commission_updates set state = 'applied', finished_at = now(), outcome = 'done',
      before = '{"amount": 5, "currency": "inr"}', after = '{"amount": 5, "currency": "inr"}'`);
  const { rows } = await database.pool.query('select expected_currency from commission_updates');
  expect(rows).toEqual([{ expected_currency: 'INR' }]);
  expect(await readOwnBooks(db, { since: null })).toMatchObject([{ currency: 'INR' }]);
  const reader = { db, mirrorSchema: 'mirror' };
  expect(JSON.stringify(await readCurrencies(reader, null))).toContain('"currency":"INR"');
});

test('an affiliate is found by the address as the program spells it', async () => {
  expect(await findAffiliates(db, ['INFO@Example.com'])).toEqual(['a']);
});
