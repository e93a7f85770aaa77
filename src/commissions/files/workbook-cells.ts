// Reads one cell of a workbook. Pure.

import type { Cell } from 'hucre/xlsx';
import { quote } from '../timestamps.ts';
import type { RawCell } from './raw-table.ts';

/** Of a number: Excel keeps so many digits, and a float shows more of them than anybody typed. */
const EXCEL_DIGITS = 15;
/** What is before it is no day: Excel counts from 1900, and shows a time alone as one of day 0. */
const FIRST_DAY_MS = Date.UTC(1900, 0, 1);

/** Returns whether nothing is in the cell. */
export function isBlank(value: RawCell): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

/** Returns the cell; what is wrong with it is added to `problems`. Its details are what hucre says beside the value. */
export function readCell(value: RawCell, details: Partial<Cell>, place: string, problems: string[]): RawCell {
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
export function placeOf(row: number, column: number): string {
  return `${columnLetters(column)}${row + 1}`;
}

/** Returns the name of the column, as Excel shows it: 0 is A, 26 is AA. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : `${columnLetters(Math.floor(column / 26) - 1)}${last}`;
}
