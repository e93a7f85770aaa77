// The books without a file: what the payment ledger has as paid, and what is due beside it.

import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { noteComparison } from '../../../src/payments/books/books-differences.ts';
import { findLeft, leaveOutChanged, readOwnBooks } from '../../../src/payments/books/compare-books.ts';
import type { ReconciledRow } from '../../../src/payments/books/reconcile-books.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { differing } from './differing.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  ({ db } = database);
});

const PAID_AT = '2026-10-01T12:00:00Z';
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, 'a')}`;
const WORTH = { amount: 500, currency: 'eur' };
const OTHERWISE = { amount: 499, currency: 'usd' };

/** A commission that the mirror has as unpaid; due long ago unless it is said. */
async function mirror(
  id: string,
  { dueAt = '2020-01-01T00:00:00Z' }: { dueAt?: string } = {},
): Promise<void> {
  await database.pool.query(
    `insert into commissions (id, amount, currency, due_at, _first_seen_at, _changed_at, _observed_at)
     values ($1, 500, 'eur', $2, now(), now(), now())`,
    [id, dueAt],
  );
}

interface Asked {
  readonly action?: 'pay' | 'unpay' | 'due';
  readonly state: string;
  readonly paidAt?: string;
  readonly before?: object | null;
  readonly after?: object | null;
}

/** Requests for one commission that ended so, the oldest first. */
async function ask(id: string, ...requests: readonly Asked[]): Promise<void> {
  for (const { action = 'pay', state, paidAt = PAID_AT, before = WORTH, after = WORTH } of requests) {
    const [paid, due] = [action === 'pay' ? paidAt : null, action === 'due' ? paidAt : null];
    const { rows } = await database.pool.query(
      'insert into commission_updates (commission_id, action, paid_at, due_at) values ($1, $2, $3, $4) returning id',
      [id, action, paid, due],
    );
    if (state === 'pending') continue;
    await database.pool.query(
      `update commission_updates set state = $2, outcome = 'so', finished_at = now(), before = $3, after = $4 where id = $1`,
      [rows[0]?.id, state, before, after],
    );
  }
}

const read = (since: string | null = null) => readOwnBooks(db, { since });
const entry = (id: string, paidAt: string | null) => ({
  line: null,
  commission_id: id,
  paid_at: paidAt,
  amount: 500,
  currency: 'EUR',
});

const APPLIED = { state: 'applied' };
const PENDING = { state: 'pending' };
const UNPAY = { action: 'unpay' } as const;
const SEPTEMBER = { ...APPLIED, paidAt: '2026-09-01T00:00:00Z' };

test.each<[string, readonly Asked[], 'paid' | 'due' | 'left out']>([
  ['was never asked for', [], 'due'],
  ['was paid', [{ ...APPLIED, before: OTHERWISE }], 'paid'],
  ['is being marked unpaid', [{ ...UNPAY, ...PENDING }], 'left out'],
  ['had been paid so already', [{ state: 'unchanged', after: null }], 'paid'],
  ['was paid, and then made due', [APPLIED, { action: 'due', ...APPLIED }], 'paid'],
  ['was paid, and a second payment refused', [APPLIED, { state: 'conflict' }], 'paid'],
  ['was paid and taken back', [APPLIED, { ...UNPAY, ...APPLIED }], 'due'],
  ['was paid, and is being taken back', [APPLIED, { ...UNPAY, ...PENDING }], 'left out'],
  ['is being paid', [PENDING], 'left out'],
  ['was not paid, since that failed', [{ state: 'failed' }], 'due'],
  ['was not paid, since that was cancelled', [{ state: 'cancelled' }], 'due'],
  ['was paid anew after it was taken back', [SEPTEMBER, { ...UNPAY, ...APPLIED }, APPLIED], 'paid'],
])('a commission that is due and %s', async (_, requests, expected) => {
  const id = idOf(1);
  await mirror(id);
  await ask(id, ...requests);
  const found = { paid: [entry(id, PAID_AT)], due: [entry(id, null)], 'left out': [] };
  expect(await read()).toEqual(found[expected]);
});

test('of what is not due yet, only what was paid is in them; and what the mirror does not know as well', async () => {
  const [early, paid, unknown] = [idOf(1), idOf(2), idOf(3)];
  for (const id of [early, paid]) await mirror(id, { dueAt: '2999-01-01T00:00:00Z' });
  for (const id of [paid, unknown]) await ask(id, { state: 'applied' });
  expect(await read()).toEqual([entry(paid, PAID_AT), entry(unknown, PAID_AT)]);
});

test('payments from the given moment on are in them, and what is due whenever', async () => {
  const [paid, due] = [idOf(1), idOf(2)];
  await mirror(due);
  await ask(paid, { state: 'applied' });
  expect(await read(PAID_AT)).toEqual([entry(paid, PAID_AT), entry(due, null)]);
  expect(await read('2026-10-01T12:00:00.000001Z')).toEqual([entry(due, null)]);
});

test('differences whose entry is another one by now are left out', async () => {
  const [same, amount, currency, waiting, match] = [idOf(1), idOf(2), idOf(3), idOf(4), idOf(5)];
  for (const id of [same, amount, currency, waiting, match]) await ask(id, { state: 'applied' });
  await ask(waiting, { action: 'unpay', state: 'pending' });
  const row = (id: string, change: Partial<ReconciledRow> = {}): ReconciledRow => ({
    line: null,
    commission_id: id,
    finding: 'unpaid_upstream',
    books_paid_at: PAID_AT,
    program_paid_at: null,
    books_amount: 500,
    program_amount: 500,
    books_currency: 'EUR',
    program_currency: 'EUR',
    ...change,
  });
  const rows = [
    row(same),
    row(amount, { books_amount: 499 }),
    row(currency, { books_currency: 'USD' }),
    row(waiting),
    row(match, { finding: 'match', books_amount: 499 }),
  ];
  const left = await leaveOutChanged(db, rows, { since: null });
  expect(left.map(({ commission_id }) => commission_id)).toEqual([same, match]);
});

test('a noted difference of what is no longer in the books is settled, unless a request waits', async () => {
  const rows = differing(3);
  const [waiting = '', compared] = rows.map(({ commission_id }) => commission_id);
  await noteComparison(db, { books: 'payment_ledger', since: null, rows, settled: [] });
  await ask(waiting, APPLIED, { ...UNPAY, ...PENDING });
  expect(await findLeft(db, rows.slice(1, 2))).toEqual([rows[2]?.commission_id]);
  expect(await findLeft(db, [])).toEqual([compared, rows[2]?.commission_id]);
});
