// Reads the amounts of a file, without guessing about a factor of a hundred. Pure.
//
// An amount is a whole number in the API's unit (minor units, such as cents), or a decimal in the currency's own unit.
// A decimal with exactly the currency's digits can be nothing else. A whole number among decimals can be both (Excel
// shows 84.00 and stores 84), so it is refused until the user says which: --unit.

import { counted } from '../../contract/format.ts';
import { isCode, type MoneyFormat, spellDecimal } from '../../contract/money.ts';
import { quote } from '../timestamps.ts';
import { type Decimal, type DecimalMark, readDecimal, readEitherWay, spell, toUnits } from './decimals.ts';
import type { TableLine } from './table-file.ts';

/** The units of a file: that of the API's whole numbers, or the currency's own. */
export const FILE_UNITS = ['minor', 'major'] as const;

export type FileUnit = (typeof FILE_UNITS)[number];

export interface AmountSpelling {
  /** Null: not said. */
  readonly unit: FileUnit | null;
  /** The mark in texts; null: unknown, so that a text that could be two numbers is refused. */
  readonly decimal: DecimalMark | null;
  /** Whether some amount of the file has decimals. */
  readonly hasDecimals: boolean;
  /** With the API's unit. */
  readonly money: MoneyFormat;
}

/** Returns whether the cell is a number with decimals, with any mark. */
export function isDecimal(text: string, isNumber: boolean, mark: DecimalMark | null): boolean {
  const read = readCell(text, isNumber, mark);
  return read.length === 1 && read[0]?.fraction !== '';
}

/**
 * Returns the amount of the column in the API's unit; null if the cell is blank, or, with a problem, if it holds none.
 * `currency` is the row's, null if it names none.
 */
export function readAmount(
  name: string,
  { cells, numbers }: Pick<TableLine, 'cells' | 'numbers'>,
  currency: string | null,
  spelling: AmountSpelling,
  problems: string[],
): number | null {
  const text = cells.get(name);
  if (text === undefined) return null;
  const isNumber = numbers.has(name);
  const amount = readUnits(text, isNumber, currency, spelling);
  if (typeof amount === 'number') return amount;
  problems.push(`${name} ${quote(text)} ${amount}`);
  return null;
}

/** Returns the amount in the API's unit, or its problem. */
function readUnits(
  text: string,
  isNumber: boolean,
  currency: string | null,
  spelling: AmountSpelling,
): number | string {
  const [decimal, other] = readCell(text, isNumber, spelling.decimal);
  if (decimal === undefined) return NO_NUMBER;
  const amount = inUnits({ decimal, isNumber }, currency, spelling);
  // 4.990 KWD is 4990 of its minor units, with either mark.
  if (other === undefined || inUnits({ decimal: other, isNumber }, currency, spelling) === amount)
    return amount;
  return `is ${spell(decimal)} where a point begins the decimals, and ${spell(other)} where a comma does: give --locale en or de, or write it without a mark between the thousands`;
}

interface ReadCell {
  readonly decimal: Decimal;
  readonly isNumber: boolean;
}

function readCell(text: string, isNumber: boolean, mark: DecimalMark | null): Decimal[] {
  if (!isNumber && mark === null) return readEitherWay(text);
  const read = readDecimal(text, isNumber ? '.' : (mark ?? '.'));
  return read === null ? [] : [read];
}

/** Returns the number in the API's unit, or its problem. */
function inUnits(cell: ReadCell, currency: string | null, spelling: AmountSpelling): number | string {
  const { unit } = spelling;
  if (unit === 'minor') {
    return cell.decimal.fraction === '' ? (toUnits(cell.decimal, 0) ?? TOO_LARGE) : NO_WHOLE_NUMBER;
  }
  if (unit === 'major' || cell.decimal.fraction !== '') return inMajor(cell, currency, spelling);
  return inEither(cell.decimal, currency, spelling);
}

function inMajor(
  { decimal, isNumber }: ReadCell,
  currency: string | null,
  { unit, money }: AmountSpelling,
): number | string {
  if (currency === null) {
    const reason =
      unit === 'major' ? 'is in major units' : 'is not a whole number of minor units (such as cents)';
    return `${reason}, and without its currency it is not known how many minor ones they are: fill in the currency`;
  }
  const digits = money.digitsOf(currency);
  if (decimal.fraction.replace(/0+$/, '').length > digits) {
    if (money.unit === 'minor' && !isCode(currency)) {
      return `has digits after the point, and ${currency} is no code of ISO 4217, such as EUR, so the number of its digits is not known: correct the code, or write the whole number that the API has`;
    }
    return `has more digits than ${currency} has: ${digits} after the point`;
  }
  const amount = toUnits(decimal, digits);
  if (amount === null) return TOO_LARGE;
  // Excel stores no trailing zeros, but a user who types 83.9 may have lost a digit.
  if (unit === null && !isNumber && decimal.fraction.length !== digits) {
    return `has ${counted(decimal.fraction.length, 'digit')} after the point where ${currency} has ${digits}: write ${spellDecimal(amount, digits)} if it is ${money.format(amount, currency)}, or give --unit major`;
  }
  return amount;
}

/** A whole number without a unit is in minor units, unless its neighbours are in major ones. */
function inEither(
  decimal: Decimal,
  currency: string | null,
  { hasDecimals, money }: AmountSpelling,
): number | string {
  const minor = toUnits(decimal, 0);
  if (minor === null) return TOO_LARGE;
  const digits = currency === null ? null : money.digitsOf(currency);
  if (!hasDecimals || digits === 0 || minor === 0) return minor;
  const doubt = 'has no decimals, and others of the file do';
  const major = digits === null ? null : toUnits(decimal, digits);
  if (digits === null || major === null) return `${doubt}: give --unit minor or major`;
  const [one, other] = [minor, major].map((amount) => money.format(amount, currency));
  return `${doubt}: it is ${one}, or ${other}: write ${spellDecimal(major, digits)}, or give --unit minor or major`;
}

const TOO_LARGE = 'is too large';
const NO_WHOLE_NUMBER = 'is not a whole number, as --unit minor wants it';
const NO_NUMBER =
  'is not a number alone, or has another mark before its decimals than --locale or the rest of the file: write it such as 4990, or 49.90 with its currency in a column of its own';
