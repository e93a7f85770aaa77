// The totals of a reconciliation: each amount in its own currency.

import { expect, test } from 'vitest';
import { type ReconciledRow, totalsOf } from '../../../src/payments/books/reconcile-books.ts';

const AT = '2026-10-01T00:00:00Z';

function row(change: Partial<ReconciledRow>): ReconciledRow {
  return {
    line: 2,
    commission_id: '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11',
    finding: 'different_amount',
    books_paid_at: AT,
    program_paid_at: AT,
    books_amount: 100,
    program_amount: 100,
    books_currency: 'USD',
    program_currency: 'EUR',
    ...change,
  };
}

/** Returns each line as its currency, commissions, paid by the books, paid by the program, and difference. */
const linesOf = (...rows: ReconciledRow[]) =>
  totalsOf(rows).map((total) => [
    total.currency,
    total.commissions,
    total.books_paid,
    total.program_paid,
    total.difference,
  ]);

test('what the books have in another currency is not taken for the money of the program', () => {
  expect(linesOf(row({}))).toEqual([
    ['EUR', 1, 0n, 100n, 100n],
    ['USD', 1, 100n, 0n, -100n],
  ]);
});

test('what the books do not name is not known of them, and what only they have is theirs', () => {
  expect(linesOf(row({ books_currency: null, books_amount: 90 }))).toEqual([['EUR', 1, 90n, 100n, 10n]]);
  expect(linesOf(row({ books_amount: null }))).toEqual([['EUR', 1, null, 100n, null]]);
  const unknown = { finding: 'unknown', program_paid_at: null, program_amount: null, program_currency: null };
  expect(linesOf(row(unknown as Partial<ReconciledRow>))).toEqual([['USD', 1, 100n, 0n, -100n]]);
  const bare = { ...unknown, books_amount: null, books_currency: null };
  expect(linesOf(row(bare as Partial<ReconciledRow>))).toEqual([['?', 1, null, 0n, null]]);
});

test('sums of the largest amounts are exact', () => {
  const largest = row({ books_amount: Number.MAX_SAFE_INTEGER, books_currency: 'EUR', program_amount: 1 });
  expect(linesOf(largest, largest, largest)).toEqual([
    ['EUR', 3, 27_021_597_764_222_973n, 3n, -27_021_597_764_222_970n],
  ]);
});

test('the lines are in the order of their currencies, and of the findings within each', () => {
  const findings = ['unknown', 'match', 'not_in_books'] as const;
  const rows = findings.flatMap((finding) =>
    ['USD', 'EUR'].map((currency) => row({ finding, books_currency: currency, program_currency: currency })),
  );
  expect(totalsOf(rows).map(({ currency, finding }) => `${currency} ${finding}`)).toEqual([
    ...['EUR match', 'EUR not_in_books', 'EUR unknown'],
    ...['USD match', 'USD not_in_books', 'USD unknown'],
  ]);
});
