// How a comparison of the books with the program is printed.

import type { CurrencyTotal, ReconciledRow } from '../../commissions/books/reconcile-books.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { sayUnit } from '../documents/amounts.ts';
import { AMOUNTS, type ReconcileDocument, reconciledRow, SUMS } from '../documents/reconcile.ts';
import type { Listing } from '../output/format.ts';
import { renderTable } from '../output/render-table.ts';
import { lineOf, money, recordsOf } from './listings.ts';

/** Returns the listing of these rows; its document has the totals too. */
export function reconcileListing(
  rows: readonly ReconciledRow[],
  totals: readonly CurrencyTotal[],
  unit: AmountUnit,
): Listing<ReconciledRow> {
  return {
    rows,
    table: {
      line: lineOf,
      commission: ({ commission_id }) => commission_id,
      finding: ({ finding }) => finding,
      'books: paid': ({ books_paid_at }) => books_paid_at,
      'program: paid': ({ program_paid_at }) => program_paid_at,
      // Books that name no currency count in the program's.
      'books: amount': ({ books_amount, books_currency, program_currency }) =>
        money(books_amount, books_currency ?? program_currency, unit),
      'program: amount': ({ program_amount, program_currency }) =>
        money(program_amount, program_currency, unit),
    },
    ...recordsOf(reconciledRow, AMOUNTS, unit),
    documentOf: (records): ReconcileDocument => ({
      totals: totals.map((total) => sayUnit(total, SUMS, unit)),
      rows: records,
    }),
  };
}

/** Returns the totals as a table. */
export function renderTotals(totals: readonly CurrencyTotal[], unit: AmountUnit): string {
  return renderTable(
    ['currency', 'finding', 'commissions', 'paid by the books', 'paid by the program', 'difference'],
    totals.map((total) => [
      total.currency,
      total.finding,
      total.commissions,
      money(total.books_paid, total.currency, unit),
      money(total.program_paid, total.currency, unit),
      money(total.difference, total.currency, unit),
    ]),
  );
}
