// A payment provider's result file lists the payments that failed beside those that arrived. Taken as paid, a failed
// one would never be paid: so where a column says what became of the rows, the user says which of them are meant.
//
// Rejected: a list of words that mean unpaid. One that it lacks, in any language, would be a payment that nobody makes.

import { quote } from '../timestamps.ts';
import type { FileOptions } from './file-options.ts';
import { type Problem, spellCell } from './raw-table.ts';
import { isResultColumn } from './result-columns.ts';
import { columnName } from './table-columns.ts';
import type { TableFile, TableLine } from './table-file.ts';

const STATUS = /status|zustand|ergebnis|result|states?(?!\p{L})/u;

/** Of its values, as many are named. */
const MOST_VALUES = 5;

/**
 * Returns a problem where a status says something of rows that `isPaid` takes as paid, and no condition names its
 * column. Ours are no provider's.
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
