// Reads the first visible sheet of an Excel workbook as a raw table.
//
// The whole sheet at once, and not as a stream of rows: only so does hucre tell a formula whose result is missing, or
// an error such as #REF!, from an empty cell and from text. An empty expected_amount expects nothing, so that matters.

import type { Sheet } from 'hucre/xlsx';
import { quote } from '../timestamps.ts';
import { findMerged } from './merged-cells.ts';
import { readOtherSheets, type SheetPlace } from './other-sheets.ts';
import type { Problem, RawTable } from './raw-table.ts';
import { brokenTable } from './raw-table.ts';
import { describeHiddenTime, placeOf, readCell } from './workbook-cells.ts';

const FORM = { kind: 'xlsx' } as const;

/**
 * Returns the table. Its header is the first row that is not empty; `find` tells which column a name in it is, null for
 * one that is not read.
 */
export async function readWorkbook(
  bytes: Uint8Array,
  find: (name: string) => string | null,
): Promise<RawTable> {
  // Loading it takes longer than most commands.
  const { readXlsx } = await import('hucre/xlsx');
  const visible: SheetPlace[] = [];
  const workbook = await readXlsx(bytes, {
    readStyles: true,
    sheets: ({ index, name, hidden, veryHidden }) => {
      if (hidden === true || veryHidden === true) return false;
      visible.push({ index, name });
      return visible.length === 1;
    },
  }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (workbook instanceof Error) {
    return brokenTable(FORM, `the workbook cannot be read (${workbook.message}): save it once more in Excel`);
  }
  const [sheet] = workbook.sheets;
  if (sheet === undefined) return brokenTable(FORM, 'the workbook has no visible sheet');
  const others = await readOtherSheets(bytes, visible.slice(1), find);
  const forgotten = others.find(({ hasCommissions }) => hasCommissions);
  if (forgotten !== undefined) {
    return brokenTable(
      FORM,
      `the sheet ${quote(forgotten.name)} has rows with a commission_id too, and only the first visible sheet, ${quote(sheet.name)}, is read: put all rows into that one, or hide the other`,
    );
  }
  return { ...readSheet(sheet, find), unreadSheets: others.map(({ name }) => name) };
}

function readSheet(sheet: Sheet, find: (name: string) => string | null): RawTable {
  const problems: Problem[] = [];
  const detailsOf = (row: number, column: number) => sheet.cells?.get(`${row},${column}`) ?? {};
  const rows = sheet.rows.flatMap((values, row) => {
    const line = row + 1;
    const ofRow: string[] = [];
    const cells = values.map((value, column) =>
      readCell(value, detailsOf(row, column), placeOf(row, column), ofRow),
    );
    problems.push(...ofRow.map((problem) => ({ line, problem })));
    return cells.every((cell) => cell === null) ? [] : [{ line, cells }];
  });
  const [header, ...others] = rows;
  if (header === undefined) return brokenTable(FORM, `the first sheet, ${quote(sheet.name)}, is empty`);
  const names = trimEnd(header.cells.map((cell) => (cell === null ? '' : String(cell))));
  const read = new Set([...names.keys()].filter((column) => find(names[column] ?? '') !== null));
  for (const { line, cells } of others) {
    for (const column of read) {
      const [value, details] = [cells[column] ?? null, detailsOf(line - 1, column)];
      const problem = describeHiddenTime(value, details, placeOf(line - 1, column));
      if (problem !== null) problems.push({ line, problem });
    }
  }
  return {
    form: FORM,
    header: { line: header.line, names },
    rows: others,
    problems: [...problems, ...findMerged(sheet, header.line - 1, read)],
    areRowsUnsure: false,
    unreadSheets: [],
  };
}

// Formatted columns to the right of the table are no part of it.
function trimEnd(names: readonly string[]): string[] {
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}
