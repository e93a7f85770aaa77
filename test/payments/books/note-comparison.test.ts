// What a comparison of the books leaves noted: one that left out more does not hide what another one found.

import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import {
  acceptDifferences,
  type Comparison,
  noteComparison,
} from '../../../src/payments/books/books-differences.ts';
import type { ReconciledRow } from '../../../src/payments/books/reconcile-books.ts';
import { type BooksStatus, readBooks } from '../../../src/reports/read-health.ts';
import { createTestDatabase } from '../../support/database.ts';
import { differing } from './differing.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

/** Returns what the status says of the books. */
async function booksNow(): Promise<BooksStatus | undefined> {
  const { rows } = await readBooks({ db, mirrorSchema: 'mirror' });
  return rows[0];
}

const SEPTEMBER = '2026-09-01T00:00:00Z';
const OCTOBER = '2026-10-01T00:00:00Z';

function note(since: Comparison['since'], count: number, amount?: number): Promise<readonly string[]> {
  const rows = differing(count, amount);
  const settled = differing(9).map(({ commission_id }) => commission_id);
  return noteComparison(db, { books: 'payment_ledger', since, rows, settled });
}

/** Notes a comparison of a file with one commission, unless it has none. */
function noteFile(change: Partial<ReconciledRow> | null, ...settled: string[]): Promise<readonly string[]> {
  const rows = differing(change === null ? 0 : 1).map((row) => ({ ...row, ...change }));
  return noteComparison(db, { books: 'file', since: null, rows, settled });
}

test.each([
  ['everything showed', null, 'everything', null],
  ['a part showed', OCTOBER, 'the same part', OCTOBER],
  ['a part showed', OCTOBER, 'more', SEPTEMBER],
  ['a part showed', OCTOBER, 'everything', null],
] as const)('what $0 is over once $2 shows no difference', async (_, first, __, second) => {
  await note(first, 2);
  expect(await booksNow()).toMatchObject({
    differing: 2,
    differ_since: expect.any(String),
    differ_in: expect.any(String),
  });
  await note(second, 0);
  expect(await booksNow()).toMatchObject({ differing: 0, differ_since: null, differ_in: null });
});

test.each([
  ['everything', null, OCTOBER],
  ['a part', SEPTEMBER, OCTOBER],
] as const)('what %s showed stays while only less was compared since', async (_, first, second) => {
  await note(first, 2);
  const found = await booksNow();
  await note(second, 0);
  await note(second, 1);
  expect(await booksNow()).toEqual(found);
});

const AMOUNT = { finding: 'different_amount', books_amount: 499 } as const;
const MATCH = { finding: 'match' } as const;
const NO_AMOUNT = { finding: 'amount_not_compared', books_amount: null, books_currency: null } as const;
const NO_CURRENCY = { ...MATCH, books_currency: null };

test.each<[string, Partial<ReconciledRow>, Partial<ReconciledRow> | null, number]>([
  ['an amount', AMOUNT, MATCH, 0],
  ['an amount', AMOUNT, NO_AMOUNT, 1],
  ['an amount', AMOUNT, { ...NO_AMOUNT, finding: 'different_time' }, 1],
  ['an amount', AMOUNT, { finding: 'unreadable', program_amount: null, program_currency: null }, 1],
  ['an amount', AMOUNT, null, 1],
  ['an amount without its currency', { ...AMOUNT, books_currency: null }, NO_CURRENCY, 0],
  ['a currency', { finding: 'different_amount', books_currency: 'USD' }, NO_CURRENCY, 1],
  ['a payment', {}, NO_AMOUNT, 0],
  ['a payment', {}, null, 1],
])(
  '%s that differs (%j) is over only once it was compared and agrees: %j',
  async (_, first, second, left) => {
    await noteFile(first);
    await noteFile(second);
    expect(await booksNow()).toMatchObject({ differing: left });
    // What was kept is what differed at first.
    await noteFile(NO_AMOUNT);
    expect(await booksNow()).toMatchObject({ differing: first.finding === undefined ? 0 : left });
    await noteFile(MATCH);
    expect(await booksNow()).toMatchObject({ differing: 0, differ_since: null });
  },
);

test('what the books rightly lack by now is over without a row', async () => {
  await noteFile({ finding: 'not_in_books' });
  await noteFile(null, ...differing(1).map(({ commission_id }) => commission_id));
  expect(await booksNow()).toMatchObject({ differing: 0 });
});

test('a part that differs is noted where nothing differed before', async () => {
  await note(null, 0);
  await note(OCTOBER, 1);
  expect(await booksNow()).toMatchObject({ differing: 1 });
});

test('books that still differ have done so since the first comparison that showed it', async () => {
  await note(null, 2);
  const first = await booksNow();
  await note(null, 3);
  expect(await booksNow()).toMatchObject({ differing: 3, differ_since: first?.differ_since });
});

test('a difference that was accepted is not counted until it changes, and the others are', async () => {
  const accepted = { reason: 'paid in cash', by: 'finance' };
  await note(null, 2);
  const [one, two] = differing(2).map(({ commission_id }) => commission_id);
  await acceptDifferences(db, [one ?? ''], accepted);
  expect(await booksNow()).toMatchObject({ differing: 1 });
  await note(null, 2);
  expect(await booksNow()).toMatchObject({ differing: 1 });
  await acceptDifferences(db, [two ?? ''], accepted);
  expect(await booksNow()).toMatchObject({ differing: 0, differ_since: null });
  // Less was compared, and then everything, with another amount.
  await note(OCTOBER, 0);
  await note(null, 2);
  expect(await booksNow()).toMatchObject({ differing: 0 });
  await note(null, 2, 501);
  expect(await booksNow()).toMatchObject({ differing: 2 });
  await expect(acceptDifferences(db, [one ?? '', 'other'], accepted)).rejects.toThrow(
    'no difference of the commission other is noted: compare the books with --note first',
  );
  expect(await booksNow()).toMatchObject({ differing: 2 });
});
