// What `commissions reconcile` prints of a comparison of the books with the API.

import { counted, formatCount } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import type { ComparedBooks, ComparedRow } from '../../payments/books/compare-books.ts';
import { isDifference, totalsOf } from '../../payments/books/reconcile-books.ts';
import { isForPeople, type OutputFlags, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import { reconcileListing, renderTotals } from './reconcile-listing.ts';

/** Prints what was found. */
export function reportBooks(
  { rows, differing }: ComparedBooks,
  flags: OutputFlags,
  money: MoneyFormat,
): void {
  const totals = totalsOf(rows);
  const listed = isForPeople(flags) ? rows.filter(isDifference) : rows;
  printListing(reconcileListing(listed, totals, money), flags);
  if (isForPeople(flags))
    print(
      renderTotals(
        totals.map(({ commissions, ...total }) => ({ ...total, count: commissions })),
        'commissions',
        money,
      ),
    );
  const count = differing.length;
  const accepted = rows.filter((row) => row.accepted !== null).length;
  printError(
    `${counted(rows.length, 'commission')} compared: ${formatCount(count)} ${count === 1 ? 'differs' : 'differ'}${accepted === 0 ? '' : `, and ${formatCount(accepted)} more in a way that was accepted`}`,
  );
  for (const says of describeUnseen(rows)) printError(says);
}

/** Describes what of the file's money was not compared. */
function describeUnseen(rows: readonly ComparedRow[]): string[] {
  const ofFile = rows.filter(({ line }) => line !== null);
  const unseen = {
    amount: ofFile.filter((row) => row.books_amount === null).length,
    currency: ofFile.filter((row) => row.books_amount !== null && row.books_currency === null).length,
  };
  return Object.entries(unseen).flatMap(([name, count]) =>
    count === 0
      ? []
      : `no ${name} was compared of ${counted(count, 'commission')}: the file has none there. If a column has it, give --map ${name}=NAME`,
  );
}

/** Describes noted differences that this comparison did not end. */
export function describeStaying(ids: readonly string[]): string {
  const more = ids.length > MOST_STAYING ? ', …' : '';
  return `${counted(ids.length, 'noted difference')} ${ids.length === 1 ? 'stays' : 'stay'} open, since what differed was not compared: ${ids.slice(0, MOST_STAYING).join(', ')}${more}. Compare them with their amounts, or --accept them`;
}

/** Commissions that a message names. */
const MOST_STAYING = 5;
