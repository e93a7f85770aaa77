// Cells of a workbook that are merged: Excel shows one value in all of them, and has it in the first alone. Read as
// they are, the others would be blank: a row would lose the guard, or the payment, that everybody sees in it. Pure.

import type { MergeRange, Sheet } from 'hucre/xlsx';
import type { Problem } from './raw-table.ts';
import { isBlank, placeOf } from './workbook-cells.ts';

/**
 * Returns a problem of each line on which such a value belongs to more than one cell that is read. `read` has the
 * columns that are; rows and columns count from 0.
 */
export function findMerged(
  { rows, merges = [] }: Sheet,
  headerRow: number,
  read: ReadonlySet<number>,
): Problem[] {
  return merges.flatMap((merge) => {
    const { startRow, startCol, endRow, endCol } = merge;
    const lastRow = Math.min(endRow, rows.length - 1);
    const columns = [...read].filter((column) => column >= startCol && column <= endCol);
    const firstRow = Math.max(startRow, headerRow);
    if ((lastRow - firstRow + 1) * columns.length < 2 || !hasValue(rows, merge)) return [];
    const first = placeOf(startRow, startCol);
    const problem = `the cells ${first}:${placeOf(endRow, endCol)} are merged, and Excel has their value in ${first} alone: unmerge them, and fill each cell`;
    return Array.from({ length: lastRow - firstRow + 1 }, (_, index) => ({
      line: firstRow + index + 1,
      problem,
    }));
  });
}

// Also one that no longer shows, in a cell behind the first: it would be read.
function hasValue(rows: Sheet['rows'], { startRow, startCol, endRow, endCol }: MergeRange): boolean {
  return rows
    .slice(startRow, endRow + 1)
    .some((row) => row.slice(startCol, endCol + 1).some((value) => !isBlank(value)));
}
