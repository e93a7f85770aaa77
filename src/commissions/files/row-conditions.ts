// Which rows of a file are meant: --only COLUMN=VALUE. Of several values of one column any will do; of several columns
// each has to hold. Pure.

import { quote } from '../timestamps.ts';
import { type RawRow, spellCell } from './raw-table.ts';
import { type Condition, columnName } from './table-columns.ts';

/** Returns what is wrong with the conditions beside this header. */
export function findUnknownConditions(header: readonly string[], conditions: readonly Condition[]): string[] {
  const columns = new Set(conditions.map(({ column }) => column));
  return [...columns].flatMap((column) => {
    const found = header.filter((name) => columnName(name) === columnName(column)).length;
    if (found === 1) return [];
    const there = header.filter((name) => name.trim() !== '').map(quote);
    return found === 0
      ? `there is no column ${quote(column)} for --only: the columns are ${there.join(', ')}`
      : `the column ${quote(column)} of --only is there twice: rename one`;
  });
}

/** Returns whether a row meets the conditions, whose columns the header has. Case makes no difference. */
export function makeFilter(
  header: readonly string[],
  conditions: readonly Condition[],
): (row: RawRow) => boolean {
  const columns = header.map(columnName);
  const wanted = Map.groupBy(conditions, ({ column }) => columns.indexOf(columnName(column)));
  return ({ cells }) =>
    [...wanted].every(([index, of]) => {
      const text = spellCell(cells[index] ?? null).toLowerCase();
      return of.some(({ value }) => value.toLowerCase() === text);
    });
}
