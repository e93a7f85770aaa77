// Reads the sheet of an Excel workbook that has the table, of those that are visible, as a raw table.
//
// The whole sheet at once, and not as a stream of rows: only so does hucre tell a formula whose result is missing, or
// an error such as #REF!, from an empty cell and from text. An empty expected_amount expects nothing, so that matters.

import type { Sheet } from 'hucre/xlsx';
import { counted } from '../../contract/format.ts';
import { describePlaces, type FindColumn, findHeaders } from './header-place.ts';
import {
  brokenTable,
  describeNames,
  type Problem,
  type RawCell,
  type RawRow,
  type RawTable,
  spellCell,
} from './raw-table.ts';
import { isBlank, placeOf, readCell } from './workbook-cells.ts';

const FORM = { kind: 'xlsx' } as const;

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

/** What hucre says of an archive that is not whole. */
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

/** Says what is read although Excel shows it not: a filter or a person hid it. */
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
