// The sums of the payment ledger: money, not requests.

import { beforeEach, expect, test } from 'vitest';
import { batchView } from '../../../src/web/views/batch.ts';
import { paymentsView } from '../../../src/web/views/payments.ts';
import { buildCommission } from '../../mirror/build-records.ts';
import { at, load } from '../../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { sectionOf, visit } from './visit.ts';

const COMMISSION = 'c1000000-0000-4000-8000-000000000001';
const OTHERS = [2, 3, 4, 5].map((n) => `c${n}000000-0000-4000-8000-000000000001`);

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
  const records = [COMMISSION, ...OTHERS].map((id) => buildCommission({ id, amount: 8395, currency: 'EUR' }));
  await load(database.db, {
    resource: 'commissions',
    pages: [{ observedAt: at(1), records }],
  });
});

async function ask(
  commission: string,
  action: 'pay' | 'unpay' | 'due',
  state: string,
  batch: string | null = 'march',
): Promise<void> {
  const { rows } = await database.pool.query<{ id: number }>(
    `insert into commission_updates (commission_id, action, paid_at, due_at, batch_id)
     values ($1, $2, case when $2 = 'pay' then now() end, case when $2 = 'due' then now() end, $3) returning id`,
    [commission, action, batch],
  );
  if (state === 'pending') return;
  await database.pool.query(
    "update commission_updates set state = $2, outcome = 'so', finished_at = now() where id = $1",
    [rows[0]?.id, state],
  );
}

const visitBatch = async () => {
  const { html } = await visit(database.pool, batchView, { params: { id: '1' }, mayReadPeople: true });
  return sectionOf(html, 'sums');
};

/** Returns how many commissions there are, and what was asked for, done, pending, not done and dropped. */
async function readSums(): Promise<readonly string[] | undefined> {
  const { html } = await visit(database.pool, paymentsView);
  const { rows, text } = sectionOf(html, 'sums');
  expect(text).toContain('Each commission counts once, however often its payment was asked for.');
  expect((await visitBatch()).rows).toEqual(rows);
  return rows.find(([currency]) => currency === 'EUR')?.slice(1);
}

const [NONE, ONE, TWO] = ['0.00 EUR', '83.95 EUR', '167.90 EUR'];

test('a commission counts once, by the best that came of its payments until it is taken back', async () => {
  for (const state of ['cancelled', 'failed', 'conflict']) await ask(COMMISSION, 'pay', state);
  await ask(COMMISSION, 'due', 'applied');
  expect(await readSums()).toEqual(['1', ONE, NONE, NONE, ONE, NONE]);
  await ask(COMMISSION, 'pay', 'applied');
  await ask(COMMISSION, 'pay', 'failed');
  await ask(COMMISSION, 'unpay', 'failed');
  expect(await readSums()).toEqual(['1', ONE, ONE, NONE, NONE, NONE]);
  await ask(COMMISSION, 'unpay', 'applied');
  expect(await readSums()).toEqual(['1', ONE, NONE, NONE, NONE, ONE]);
  await ask(COMMISSION, 'pay', 'rejected');
  expect(await readSums()).toEqual(['1', ONE, NONE, NONE, ONE, NONE]);
  await ask(COMMISSION, 'pay', 'pending');
  expect(await readSums()).toEqual(['1', ONE, NONE, ONE, NONE, NONE]);
});

test('what was asked for is the sum of the others, and only payments count', async () => {
  const [paid = '', waiting = '', back = '', due = ''] = OTHERS;
  await ask(due, 'due', 'applied');
  await ask(due, 'unpay', 'applied');
  expect((await visitBatch()).text).toContain('No payment was asked for.');
  await ask(paid, 'pay', 'unchanged');
  await ask(waiting, 'pay', 'pending');
  await ask(back, 'pay', 'failed');
  await ask(back, 'unpay', 'unchanged');
  await ask(COMMISSION, 'pay', 'superseded');
  expect(await readSums()).toEqual(['4', '335.80 EUR', ONE, ONE, NONE, TWO]);
});

test('a payment that was taken back by a request outside of its batch is no longer done there', async () => {
  const [kept = ''] = OTHERS;
  await ask(COMMISSION, 'pay', 'applied');
  await ask(kept, 'pay', 'applied');
  await ask(COMMISSION, 'unpay', 'applied', null);
  expect((await visitBatch()).rows).toEqual([['EUR', '2', '167.90 EUR', ONE, NONE, NONE, ONE]]);
  await ask(COMMISSION, 'pay', 'applied', 'april');
  expect((await visitBatch()).rows).toEqual([['EUR', '2', '167.90 EUR', ONE, NONE, NONE, ONE]]);
  const { html } = await visit(database.pool, paymentsView);
  expect(sectionOf(html, 'sums').rows).toEqual([['EUR', '2', '167.90 EUR', '167.90 EUR', NONE, NONE, NONE]]);
});

test('the amount is that of the newest request', async () => {
  await ask(COMMISSION, 'pay', 'conflict');
  await database.pool.query(`update commission_updates set before = '{"amount": 9999, "currency": "EUR"}'`);
  await ask(COMMISSION, 'pay', 'applied');
  expect(await readSums()).toEqual(['1', ONE, ONE, NONE, NONE, NONE]);
});

test('what was paid in a month is shown by currency and affiliate, with the month before', async () => {
  const paidIn = async (month?: string) => {
    const query = month === undefined ? {} : { month };
    return sectionOf((await visit(database.pool, paymentsView, { query })).html, 'paid');
  };
  await database.pool.query(
    `update commissions set paid_at = case when id = any($1) then '2026-09-30T23:59:59Z'::timestamptz else '2026-09-01' end`,
    [OTHERS],
  );
  await database.pool.query("update commissions set currency = 'JPY' where id = $1", [COMMISSION]);
  const affiliate = 'a1000000-0000-4000-8000-000000000001';
  await database.pool.query('update sales set affiliate_id = $1', [affiliate]);
  const september = await paidIn('2026-09');
  expect(september.rows).toEqual([
    ['EUR', 'all', '4', '335.80 EUR'],
    ['JPY', 'all', '1', '8,395 JPY'],
    ['EUR', affiliate, '4', '335.80 EUR'],
    ['JPY', affiliate, '1', '8,395 JPY'],
  ]);
  expect(september.html).toContain('href="/site/payments?month=2026-08#paid">2026-08</a>');
  expect(september.html).toContain('href="/site/payments?month=2026-10#paid">2026-10</a>');
  expect((await paidIn('2026-10')).text).toContain('The mirror has no commission as paid in this month.');
  const present = await paidIn();
  expect(present.text).toContain(`Paid in ${new Date().toISOString().slice(0, 7)} (UTC)`);
});
