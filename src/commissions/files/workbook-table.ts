// Reads the first visible sheet of an Excel workbook as a raw table.
//
// The whole sheet at once, and not as a stream of rows: only so does hucre tell a formula whose result is missing, or
// an error such as #REF!, from an empty cell and from text. An empty expected_amount expects nothing, so that matters.

import { quote } from '../timestamps.ts';
import type { Problem, RawCell, RawTable } from './raw-table.ts';
import { brokenTable } from './raw-table.ts';

const FORM = { kind: 'xlsx' } as const;
/** Of a number: Excel keeps so many digits, and a float shows more of them than anybody typed. */
const EXCEL_DIGITS = 15;
/** What is before it is no day: Excel counts from 1900, and shows a time alone as one of day 0. */
const FIRST_DAY_MS = Date.UTC(1900, 0, 1);

/** Returns the table. Its header is the first row that is not empty. */
export async function readWorkbook(bytes: Uint8Array): Promise<RawTable> {
  // Loading it takes longer than most commands.
  const { readXlsx } = await import('hucre/xlsx');
  let chosen: number | null = null;
  const workbook = await readXlsx(bytes, {
    sheets: ({ index, hidden, veryHidden }) => {
      const isFirst = chosen === null && hidden !== true && veryHidden !== true;
      if (isFirst) chosen = index;
      return isFirst;
    },
  }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (workbook instanceof Error) {
    return brokenTable(FORM, `the workbook cannot be read (${workbook.message}): save it once more in Excel`);
  }
  const [sheet] = workbook.sheets;
  if (sheet === undefined) return brokenTable(FORM, 'the workbook has no visible sheet');
  const problems: Problem[] = [];
  const rows = sheet.rows.flatMap((values, index) => {
    const line = index + 1;
    const cells = values.map((value, column) => {
      const { type, formula } = sheet.cells?.get(`${index},${column}`) ?? {};
      const place = `the cell ${columnLetters(column)}${line}`;
      if (type === 'error') problems.push({ line, problem: `${place} is ${quote(String(value))}` });
      if (type === 'formula' && value === null) {
        const problem = `${place} is the formula ${quote(`=${formula}`)}, and its result is not in the file: open and save it in Excel`;
        problems.push({ line, problem });
      }
      return readCell(value, line, place, problems);
    });
    return cells.every((cell) => cell === null) ? [] : [{ line, cells }];
  });
  const [header, ...others] = rows;
  if (header === undefined) return brokenTable(FORM, `the first sheet, ${quote(sheet.name)}, is empty`);
  const names = header.cells.map((cell) => (cell === null ? '' : String(cell)));
  return {
    form: FORM,
    header: { line: header.line, names: trimEnd(names) },
    rows: others,
    problems,
    areRowsUnsure: false,
  };
}

function readCell(value: RawCell, line: number, place: string, problems: Problem[]): RawCell {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    problems.push({ line, problem: `${place} is formatted as a date, and is none` });
    return null;
  }
  if (value instanceof Date && value.getTime() < FIRST_DAY_MS) {
    problems.push({ line, problem: `${place} is a time without a date` });
    return null;
  }
  if (typeof value !== 'number') return value;
  if (Math.abs(value) >= 10 ** EXCEL_DIGITS) {
    const problem = `${place} is a number of more than ${EXCEL_DIGITS} digits, of which Excel keeps no more: format the column as text`;
    problems.push({ line, problem });
  }
  return Number(value.toPrecision(EXCEL_DIGITS));
}

/** Returns the letters that Excel shows above the column: 0 is A, 26 is AA. */
function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : `${columnLetters(Math.floor(column / 26) - 1)}${last}`;
}

// Formatted columns to the right of the table are no part of it.
function trimEnd(names: readonly string[]): string[] {
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}
