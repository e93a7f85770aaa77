// Reads the first visible sheet of an Excel workbook as a raw table.
//
// The whole sheet at once, and not as a stream of rows: only so does hucre tell a formula whose result is missing, or
// an error such as #REF!, from an empty cell and from text. An empty expected_amount expects nothing, so that matters.

import type { Sheet } from 'hucre/xlsx';
import { quote } from '../timestamps.ts';
import { findMerged } from './merged-cells.ts';
import { readOtherSheets, type SheetPlace } from './other-sheets.ts';
import type { Problem, RawCell, RawTable } from './raw-table.ts';
import { brokenTable } from './raw-table.ts';
import { unpackedSize } from './unpacked-size.ts';
import { describeHiddenTime, isBlank, placeOf, readCell } from './workbook-cells.ts';

const FORM = { kind: 'xlsx' } as const;

/** Some 500,000 rows of six columns; read, they take 1.5 GB. */
const MOST_UNPACKED_BYTES = 256 * 1024 * 1024;

/**
 * Returns the table. Its header is the first row that is not empty; `find` tells which column a name in it is, null for
 * one that is not read.
 */
export async function readWorkbook(
  bytes: Uint8Array,
  find: (name: string) => string | null,
): Promise<RawTable> {
  if (unpackedSize(bytes) > MOST_UNPACKED_BYTES) {
    return brokenTable(
      FORM,
      'the workbook is larger than 256 MB unpacked: delete what the table does not need, other sheets and pictures too, or save the sheet as CSV',
    );
  }
  const { visible, sheet, error } = await readFirstSheet(bytes, 0);
  if (error !== null) return brokenTable(FORM, await explainUnreadable(bytes, visible[0], error));
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

interface FirstSheet {
  /** The visible sheets, from this one on. */
  readonly visible: readonly SheetPlace[];
  readonly sheet: Sheet | undefined;
  readonly error: Error | null;
}

/** What hucre says of a chart that has a sheet to itself: it has no rows. */
const IS_CHART = /missing worksheet file/;

/** Returns the first visible sheet after so many charts that have a sheet to themselves. */
async function readFirstSheet(bytes: Uint8Array, charts: number): Promise<FirstSheet> {
  // Loading it takes longer than most commands.
  const { readXlsx } = await import('hucre/xlsx');
  const seen: SheetPlace[] = [];
  const workbook = await readXlsx(bytes, {
    readStyles: true,
    sheets: ({ index, name, hidden, veryHidden }) => {
      if (hidden === true || veryHidden === true) return false;
      seen.push({ index, name });
      return seen.length === charts + 1;
    },
  }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  const visible = seen.slice(charts);
  if (!(workbook instanceof Error)) return { visible, sheet: workbook.sheets[0], error: null };
  const isChart = IS_CHART.test(workbook.message) && visible.length > 1;
  return isChart ? await readFirstSheet(bytes, charts + 1) : { visible, sheet: undefined, error: workbook };
}

/** What is read of a sheet to learn whether it is only too large. */
const CORNER = 'A1:Z1000';

/** What hucre says of an archive that is not whole. */
const IS_DAMAGED = /Central Directory|local file header|CRC-32|[di]n?flat|compressed/i;

// hucre says of a sheet that is too large to be read how a program could read less of it.
async function explainUnreadable(
  bytes: Uint8Array,
  first: SheetPlace | undefined,
  error: Error,
): Promise<string> {
  if (IS_DAMAGED.test(error.message)) {
    return `the file is damaged, or its end is missing (${error.message}): get it once more from where it came from`;
  }
  const { readXlsx } = await import('hucre/xlsx');
  const isTooLarge =
    first !== undefined &&
    (await readXlsx(bytes, { sheets: [first.index], range: CORNER }).then(
      () => true,
      () => false,
    ));
  return isTooLarge
    ? `the sheet ${quote(first.name)} is too large to be read, where cells far from the table count too, also blank ones that are formatted: delete the columns to the right of it and the rows below it, or save the sheet as CSV`
    : `the workbook cannot be read (${error.message}): save it once more in Excel`;
}

function readSheet(sheet: Sheet, find: (name: string) => string | null): RawTable {
  const problems: Problem[] = [];
  const detailsOf = (row: number, column: number) => sheet.cells?.get(`${row},${column}`) ?? {};
  // Cells that are only formatted may reach to the last column that Excel has.
  const width = sheet.rows.reduce((most, values) => Math.max(most, findLastFilled(values) + 1), 0);
  const rows = sheet.rows.flatMap((values, row) => {
    const line = row + 1;
    const ofRow: string[] = [];
    const cells = values
      .slice(0, width)
      .map((value, column) => readCell(value, detailsOf(row, column), placeOf(row, column), ofRow));
    problems.push(...ofRow.map((problem) => ({ line, problem })));
    return cells.every((cell) => cell === null) ? [] : [{ line, cells }];
  });
  const [header, ...others] = rows;
  if (header === undefined) return brokenTable(FORM, `the first sheet, ${quote(sheet.name)}, is empty`);
  const names = trimEnd(header.cells.map(nameOf));
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

function nameOf(cell: RawCell): string {
  if (cell instanceof Date) return cell.toISOString().slice(0, 10);
  return cell === null ? '' : String(cell);
}

function findLastFilled(values: readonly RawCell[]): number {
  return values.findLastIndex((value) => !isBlank(value));
}

// Formatted columns to the right of the table are no part of it.
function trimEnd(names: readonly string[]): string[] {
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}
