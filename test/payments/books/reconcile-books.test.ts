// What a comparison of the books with the program finds, and what its proposals would do.

import { expect, test } from 'vitest';
import { readNewestRequests } from '../../../src/payments/books/compare-books.ts';
import {
  findPaidElsewhere,
  proposeFixes,
  type ReconciledRow,
  reconcileBooks,
} from '../../../src/payments/books/reconcile-books.ts';
import type { BooksEntry } from '../../../src/payments/files/books-file.ts';
import { type ProgramRow, useWriter } from '../write/start-writer.ts';

const writer = useWriter();
const JULY = '2026-07-01T12:00:00Z';
const AUGUST = '2026-08-01T12:00:00Z';

const entry = ({ id, amount, currency }: ProgramRow, change: Partial<BooksEntry> = {}): BooksEntry => ({
  line: 2,
  commission_id: id,
  paid_at: JULY,
  amount,
  currency: currency.toUpperCase(),
  ...change,
});

async function reconcile(books: readonly BooksEntry[], withOthers = false): Promise<ReconciledRow[]> {
  const { api: client, db } = writer();
  const others = withOthers ? await findPaidElsewhere(db, books) : [];
  const reading = { others, concurrency: 2, signal: AbortSignal.timeout(100_000) };
  return Array.fromAsync(reconcileBooks({ client, db }, books, reading));
}

/** Returns an unpaid commission for each of the names. */
async function freshOnes<Name extends string>(...names: Name[]): Promise<Record<Name, ProgramRow>> {
  const rows = await writer().freshMany(names.length);
  return Object.fromEntries(names.map((name, index) => [name, rows[index]])) as Record<Name, ProgramRow>;
}

/** As somebody does who pays at the program itself. */
async function payThere(id: string, at: string | null): Promise<void> {
  await writer().database.pool.query('update program.commissions set paid_at = $2 where id = $1', [id, at]);
}

/** The mirror has these as paid then. */
async function mirror(paid: readonly { id: string; at: string }[]): Promise<void> {
  await writer().database.pool.query(
    `insert into commissions (id, paid_at, _first_seen_at, _changed_at, _observed_at)
     select id, at, now(), now(), now() from unnest($1::text[], $2::timestamptz[]) as paid (id, at)`,
    [paid.map(({ id }) => id), paid.map(({ at }) => at)],
  );
}

const findings = (rows: readonly ReconciledRow[]) => rows.map(({ finding }) => finding);

test('an amount or a currency that differs comes before the time, and books without both are no match', async () => {
  const { fresh, database } = writer();
  const commission = await fresh();
  // A program may spell it in small letters.
  await database.pool.query('update program.commissions set currency = lower(currency) where id = $1', [
    commission.id,
  ]);
  const books = [
    entry(commission, { paid_at: null }),
    entry(commission),
    entry(commission, { amount: commission.amount + 1 }),
    entry(commission, { currency: 'XTS' }),
    entry(commission, { amount: null, currency: null }),
  ];
  const [differs, lacks] = ['different_amount', 'unpaid_upstream'];
  expect(findings(await reconcile(books))).toEqual(['match', lacks, differs, differs, lacks]);
  await payThere(commission.id, JULY);
  expect(findings(await reconcile(books))).toEqual([
    ...['not_in_books', 'match', differs, differs, 'amount_not_compared'],
  ]);
  await payThere(commission.id, AUGUST);
  expect(findings(await reconcile(books))).toEqual([
    ...['not_in_books', 'different_time', differs, differs, 'different_time'],
  ]);
});

test('what the books lack is looked for between their first and last payment, and counts as the program has it now', async () => {
  const { database } = writer();
  const { first, last, other, unpaidByNow, gone, deleted, before, after } = await freshOnes(
    ...(['first', 'last', 'other', 'unpaidByNow', 'gone', 'deleted', 'before', 'after'] as const),
  );
  for (const { id } of [first, other, deleted, before, after]) await payThere(id, JULY);
  await payThere(last.id, AUGUST);
  await mirror([
    ...[first, other, unpaidByNow, gone, deleted].map(({ id }) => ({ id, at: JULY })),
    { id: last.id, at: AUGUST },
    { id: before.id, at: '2026-07-01T11:59:59Z' },
    { id: after.id, at: '2026-08-01T12:00:01Z' },
  ]);
  await database.pool.query('update commissions set _deleted_at = now() where id = $1', [deleted.id]);
  await database.pool.query('delete from program.commissions where id = $1', [gone.id]);

  const books = [entry(first), entry(last, { paid_at: AUGUST })];
  const compared = await reconcile(books, true);
  expect(compared.map(({ commission_id, finding, line }) => [commission_id, finding, line])).toEqual([
    [first.id, 'match', 2],
    [last.id, 'match', 2],
    [other.id, 'not_in_books', null],
  ]);
  expect(findings(await reconcile(books))).toEqual(['match', 'match']);
});

test('a payment is proposed for what the program lacks or dates otherwise, only while all is as it was compared', () => {
  const row: ReconciledRow = {
    line: 2,
    commission_id: '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11',
    finding: 'unpaid_upstream',
    books_paid_at: JULY,
    program_paid_at: null,
    books_amount: null,
    program_amount: 4990,
    books_currency: null,
    program_currency: 'EUR',
  };
  const others = ['match', 'not_in_books', 'different_amount', 'unknown', 'refused', 'unreadable'] as const;
  const proposed = proposeFixes(
    [
      row,
      { ...row, finding: 'different_time', program_paid_at: AUGUST },
      ...others.map((finding) => ({ ...row, finding })),
    ],
    new Map(),
  );
  const asked = { action: 'pay', paid_at: JULY, expected_amount: 4990, expected_currency: 'EUR' };
  expect(proposed).toMatchObject([
    { ...asked, expected_unpaid: true, expected_paid_at: null },
    { ...asked, expected_unpaid: false, expected_paid_at: AUGUST },
  ]);
  expect(proposed).toHaveLength(2);
});

test('a proposal is another one once a payment of the commission has ended, and no sooner', async () => {
  const { fresh, ask, drain, db } = writer();
  const commission = await fresh();
  const keyNow = async () => {
    const books = [entry(commission)];
    const [proposed] = proposeFixes(await reconcile(books), (await readNewestRequests(db, books)).lastEnded);
    return proposed?.idempotency_key;
  };
  const first = await keyNow();
  expect(first).toEqual(expect.any(String));
  const [due] = await ask({ commission_id: commission.id, action: 'due', due_at: AUGUST });
  await drain();
  const [waiting] = await ask({ commission_id: commission.id, action: 'pay', paid_at: AUGUST });
  expect(await keyNow()).toBe(first);
  await drain();
  await payThere(commission.id, null);
  expect(waiting?.id).toBeGreaterThan(due?.id ?? 0);
  expect(await keyNow()).not.toBe(first);
});
