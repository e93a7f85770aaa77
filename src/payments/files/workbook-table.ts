// Reads the sheet of an Excel workbook that has the table, of those that are visible, as a raw table.
//
// The whole sheet at once, and not as a stream of rows: only so does hucre tell a formula whose result is missing, or
// an error such as #REF!, from an empty cell and from text. An empty expected_amount expects nothing, so that matters.

import type { Cell, Sheet } from 'hucre/xlsx';
import { counted } from '../../contract/format.ts';
import { quote } from '../timestamps.ts';
import { describePlaces, type FindColumn, findHeaders } from './header-place.ts';
import {
  brokenTable,
  columnLetters,
  describeNames,
  type Problem,
  type RawCell,
  type RawRow,
  type RawTable,
  spellCell,
} from './raw-table.ts';

const FORM = { kind: 'xlsx' } as const;

/** Excel stores so many digits of a number, and a float shows more of them than were typed. */
const EXCEL_DIGITS = 15;
/** An earlier value is no day: Excel counts from 1900, and a time without a date is one of day 0. */
const FIRST_DAY_MS = Date.UTC(1900, 0, 1);

/** Returns the table: the rows below the header, which one place of the visible sheets has. */
export async function readWorkbook(bytes: Uint8Array, find: FindColumn): Promise<RawTable> {
  const read = await readVisibleSheets(bytes);
  if (typeof read === 'string') return brokenTable(FORM, read);
  const tables = read.map((sheet) => ({ sheet: sheet.name, rows: filledRows(sheet), content: sheet }));
  const [place, ...more] = findHeaders(tables, find);
  if (place === undefined) return brokenTable(FORM, 'the workbook has no visible sheet with anything in it');
  if (more.length > 0) return brokenTable(FORM, describePlaces([place, ...more]));
  const others = tables.filter((table) => table !== place.table && table.rows.length > 0);
  const table = readSheet(place.table.content, place.table.rows[place.index]?.line ?? 1, find);
  const unread = describeNames(
    'not read: the sheet',
    others.map(({ sheet }) => sheet),
  );
  return { ...table, notes: [...unread, ...table.notes] };
}

/** The errors of hucre about an archive that is not whole. */
const IS_DAMAGED = /Central Directory|local file header|CRC-32|[di]n?flat|compressed/i;

/** Returns the visible sheets but `charts`, which have a sheet to themselves and no rows; or why there are none. */
async function readVisibleSheets(
  bytes: Uint8Array,
  charts: readonly string[] = [],
): Promise<Sheet[] | string> {
  // Loading it takes longer than most commands.
  const { readXlsx } = await import('hucre/xlsx');
  try {
    const workbook = await readXlsx(bytes, {
      sheets: ({ name, hidden, veryHidden }) =>
        hidden !== true && veryHidden !== true && !charts.includes(name),
    });
    return workbook.sheets;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, chart] = /missing worksheet file for sheet "(.*)"/s.exec(message) ?? [];
    if (chart !== undefined && !charts.includes(chart)) {
      return await readVisibleSheets(bytes, [...charts, chart]);
    }
    return IS_DAMAGED.test(message)
      ? `the file is damaged, or its end is missing (${message}): get it once more from where it came from`
      : `the workbook cannot be read (${message}): save it once more in Excel`;
  }
}

function filledRows({ rows }: Sheet): RawRow[] {
  return rows.flatMap((cells, row) => (cells.every(isBlank) ? [] : [{ line: row + 1, cells }]));
}

function readSheet(sheet: Sheet, headerLine: number, find: FindColumn): RawTable {
  const problems: Problem[] = [];
  const detailsOf = (row: number, column: number) => sheet.cells?.get(`${row},${column}`) ?? {};
  const values = sheet.rows.slice(headerLine - 1);
  // Cells that are only formatted may reach to the last column that Excel has.
  const width = values.reduce((most, cells) => Math.max(most, findLastFilled(cells) + 1), 0);
  const [header, ...rows] = values.flatMap((ofRow, index) => {
    const line = headerLine + index;
    const wrong: string[] = [];
    const cells = ofRow
      .slice(0, width)
      .map((value, column) => readCell(value, detailsOf(line - 1, column), placeOf(line - 1, column), wrong));
    problems.push(...wrong.map((problem) => ({ line, problem })));
    return cells.every((cell) => cell === null) ? [] : [{ line, cells }];
  });
  const names = trimEnd((header?.cells ?? []).map(spellCell));
  const read = new Set([...names.keys()].filter((column) => find(names[column] ?? '') !== null));
  return {
    form: FORM,
    header: { line: headerLine, names },
    rows,
    problems,
    notes: describeHidden(
      sheet,
      rows,
      [...read].map((column) => ({ column, name: names[column] ?? '' })),
    ),
  };
}

/** Names rows and columns that are read although they are hidden. */
function describeHidden(
  { rowDefs, columns }: Sheet,
  rows: readonly RawRow[],
  read: readonly { readonly column: number; readonly name: string }[],
): string[] {
  const [first, ...others] = rows.filter(({ line }) => rowDefs?.get(line - 1)?.hidden === true);
  const count = counted(others.length + 1, 'row');
  return [
    ...(first === undefined
      ? []
      : [`read although hidden: ${count} of the sheet, the first on line ${first.line}`]),
    ...describeNames(
      'read although hidden: the column',
      read.flatMap(({ column, name }) => (columns?.[column]?.hidden === true ? name : [])),
    ),
  ];
}

function findLastFilled(values: readonly RawCell[]): number {
  return values.findLastIndex((value) => !isBlank(value));
}

// Formatted columns to the right of the table are no part of it.
function trimEnd(names: readonly string[]): string[] {
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}

/** Returns whether nothing is in the cell. */
function isBlank(value: RawCell): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

/** Returns the cell, and adds its problems. `details` are hucre's remarks on the value. */
function readCell(value: RawCell, details: Partial<Cell>, place: string, problems: string[]): RawCell {
  const { type, formula } = details;
  if (type === 'error') problems.push(`the cell ${place} is ${quote(String(value))}`);
  if (formula !== undefined && value === null) {
    // The text of a formula that was copied down is in its first cell alone.
    const what = formula === '' ? 'a formula' : `the formula ${quote(`=${formula}`)}`;
    problems.push(
      `the cell ${place} is ${what}, and its result is not in the file: open and save it in Excel`,
    );
  }
  if (typeof value === 'string') return isBlank(value) ? null : value.trim();
  if (value instanceof Date) return readDate(value, place, problems);
  if (typeof value !== 'number') return value;
  if (Math.abs(value) >= 10 ** EXCEL_DIGITS) {
    problems.push(
      `the cell ${place} is a number of more than ${EXCEL_DIGITS} digits, of which Excel keeps no more: format the column as text`,
    );
  }
  return Number(value.toPrecision(EXCEL_DIGITS));
}

function readDate(value: Date, place: string, problems: string[]): Date | null {
  if (Number.isNaN(value.getTime())) {
    problems.push(`the cell ${place} is formatted as a date, and is none`);
    return null;
  }
  if (value.getTime() < FIRST_DAY_MS) {
    problems.push(`the cell ${place} is a time without a date`);
    return null;
  }
  return value;
}

/** Returns the name that Excel shows of the cell in the row and the column, both from 0: B1 is in row 0, column 1. */
function placeOf(row: number, column: number): string {
  return `${columnLetters(column)}${row + 1}`;
}
