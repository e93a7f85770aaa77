// A payment provider's result file lists failed payments as well as those that arrived. A failed one that is taken as
// paid would never be paid. So if a column states the outcome of the rows, the user says which of them are meant.
//
// Rejected: a list of words that mean unpaid. A word that it lacks, in any language, would be a payment that is never
// made.

import { AMOUNT_UNITS } from '../../contract/money.ts';
import { quote } from '../timestamps.ts';
import type { FileOptions } from './file-options.ts';
import { type Problem, spellCell } from './raw-table.ts';
import { columnName } from './table-columns.ts';
import type { TableFile, TableLine } from './table-file.ts';

const STATUS = /status|zustand|ergebnis|result|states?(?!\p{L})/u;

/** Values that a message names. */
const MOST_VALUES = 5;

/**
 * Returns a problem if a status column has values in rows that `isPaid` takes as paid, and no condition names the
 * column. Result columns of ours do not count.
 */
export function findStatusColumn(
  { header, rows, lines }: TableFile,
  isPaid: (line: TableLine) => boolean,
  { only }: FileOptions,
): Problem[] {
  const paidLines = new Set(lines.filter(isPaid).map(({ line }) => line));
  const paid = rows.filter(({ line }) => paidLines.has(line));
  const named = new Set(only.map(({ column }) => columnName(column)));
  return header.flatMap((name, index) => {
    if (!STATUS.test(columnName(name)) || named.has(columnName(name)) || isResultColumn(name)) return [];
    const values = new Set(paid.map(({ cells }) => spellCell(cells[index] ?? null)));
    values.delete('');
    if (values.size === 0) return [];
    const words = [...values].slice(0, MOST_VALUES).map(quote).join(', ');
    const problem = `the column ${quote(name)} may say which rows were paid (${words}): give --only ${quote(name.trim())}=VALUE for each value that says so`;
    return [{ line: null, problem }];
  });
}

// The columns that `apply --result` adds to the user's own. The file is then handed back as a payout file or as books.

/** The result_state of a row that `apply --skip-invalid` or --only left out: nothing was asked for. */
export const LEFT_OUT = 'left_out';

/** The amounts in the currency's own unit. In a workbook 84.00 is 84 there, and no 84 cents. */
export const RESULT_AMOUNT = 'result_amount';

const RESULT_COLUMN = new RegExp(
  `^result_(state|outcome|paid_at(_local)?|amount(_(${AMOUNT_UNITS.join('|')}))?|currency)$`,
  'i',
);

/** Returns whether the column is one of these. */
export function isResultColumn(name: string): boolean {
  return RESULT_COLUMN.test(name);
}

/** The columns that `payable` puts before those of a payout file. */
export const PAYEE_COLUMNS = [
  'affiliate_name',
  'affiliate_email',
  'payout_email',
  'wise_email',
  'due_date',
  'payout_id',
] as const;

/** Returns whether the column is one that our commands add for people. */
export function isAddedColumn(name: string): boolean {
  return isResultColumn(name) || PAYEE_COLUMNS.some((added) => added === columnName(name));
}
