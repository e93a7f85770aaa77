// The books without a file: what the payment ledger has as paid, and what is due beside it.

import { beforeEach, expect, test } from 'vitest';
import { compareChanged, readOwnBooks } from '../../../src/commissions/books/own-books.ts';
import type { ReconciledRow } from '../../../src/commissions/books/reconcile-books.ts';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
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

test.each<[string, readonly Asked[], 'paid' | 'due' | 'left out']>([
  ['was never asked for', [], 'due'],
  ['was paid', [{ state: 'applied', before: OTHERWISE }], 'paid'],
  ['is being marked unpaid', [{ action: 'unpay', state: 'pending' }], 'left out'],
  ['had been paid so already', [{ state: 'unchanged', after: null }], 'paid'],
  ['was paid, and then made due', [{ state: 'applied' }, { action: 'due', state: 'applied' }], 'paid'],
  ['was paid, and a second payment refused', [{ state: 'applied' }, { state: 'conflict' }], 'paid'],
  ['was paid and taken back', [{ state: 'applied' }, { action: 'unpay', state: 'applied' }], 'due'],
  [
    'was paid, and is being taken back',
    [{ state: 'applied' }, { action: 'unpay', state: 'pending' }],
    'left out',
  ],
  ['is being paid', [{ state: 'pending' }], 'left out'],
  ['was not paid, since that failed', [{ state: 'failed' }], 'due'],
  ['was not paid, since that was cancelled', [{ state: 'cancelled' }], 'due'],
  [
    'was paid anew after it was taken back',
    [
      { state: 'applied', paidAt: '2026-09-01T00:00:00Z' },
      { action: 'unpay', state: 'applied' },
      { state: 'applied' },
    ],
    'paid',
  ],
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

test('only differences whose entry is another one by now are compared anew', async () => {
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
  const compared: string[] = [];
  const result = await compareChanged(db, rows, { since: null }, async (books) => {
    compared.push(...books.map(({ commission_id }) => commission_id));
    return books.map(({ commission_id }) => row(commission_id, { finding: 'match' }));
  });
  expect(compared).toEqual([amount, currency]);
  expect(result.map(({ commission_id, finding }) => [commission_id, finding])).toEqual([
    [same, 'unpaid_upstream'],
    [amount, 'match'],
    [currency, 'match'],
    [match, 'match'],
  ]);
});
