// Reads the amounts of a file, without ever guessing about a factor of a hundred. Pure.
//
// An amount is a whole number in the unit in which the program counts (minor units, such as cents), or a decimal in the
// currency's own unit. A decimal with exactly the currency's digits can be nothing else. A whole number beside decimals
// can be both (Excel shows 84.00 and keeps 84), so it is refused until somebody says which: --unit.

import type { AmountUnit } from '../../config/amount-unit.ts';
import { counted } from '../../contract/format.ts';
import { formatMoney, fractionDigits, isCode, spellDecimal } from '../../contract/money.ts';
import { quote } from '../timestamps.ts';
import { type Decimal, type DecimalMark, readDecimal, readEitherWay, spell, toUnits } from './decimals.ts';
import type { TableLine } from './table-file.ts';

/** The units that a file may be in: that of the program's whole numbers, or the currency's own. */
export const FILE_UNITS = ['minor', 'major'] as const;

export type FileUnit = (typeof FILE_UNITS)[number];

export interface AmountSpelling {
  /** Null: not said. */
  readonly unit: FileUnit | null;
  /** Of texts; null: unknown, so that what could be two numbers is refused. */
  readonly decimal: DecimalMark | null;
  /** Whether some amount of the file has decimals. */
  readonly hasDecimals: boolean;
  /** How the program counts. */
  readonly programUnit: AmountUnit;
}

/** Returns whether the cell is a number with decimals, whatever its mark may be. */
export function isDecimal(text: string, isNumber: boolean, mark: DecimalMark | null): boolean {
  const read = readCell(text, isNumber, mark);
  return read.length === 1 && read[0]?.fraction !== '';
}

/**
 * Returns the amount of the column as the program counts it; null where the cell is blank, or, with a problem, where it
 * holds none. `currency` is the row's, and null where it names none.
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

/** Returns the amount as the program counts it, or what is wrong with it. */
function readUnits(
  text: string,
  isNumber: boolean,
  currency: string | null,
  spelling: AmountSpelling,
): number | string {
  const [decimal, other] = readCell(text, isNumber, spelling.decimal);
  if (decimal === undefined) return describeOther(text, spelling.decimal);
  const amount = inUnits({ decimal, isNumber }, currency, spelling);
  // 4.990 KWD is 4990 of its minor units, whatever the mark may be.
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

/** Returns the number as the program counts it, or what is wrong with it. */
function inUnits(cell: ReadCell, currency: string | null, spelling: AmountSpelling): number | string {
  const { unit } = spelling;
  if (unit === 'minor') return inMinor(cell.decimal, currency, spelling);
  if (unit === 'major' || cell.decimal.fraction !== '') return inMajor(cell, currency, spelling);
  return inEither(cell.decimal, currency, spelling);
}

function inMinor(
  decimal: Decimal,
  currency: string | null,
  { programUnit }: AmountSpelling,
): number | string {
  if (decimal.fraction === '') return toUnits(decimal, 0) ?? TOO_LARGE;
  const amount = currency === null ? null : toUnits(decimal, fractionDigits(currency, programUnit));
  const rewritten = amount === null ? '' : `: ${formatMoney(amount, currency, programUnit)} is ${amount}`;
  return `is not a whole number, as --unit minor wants it${rewritten}`;
}

function inMajor(
  { decimal, isNumber }: ReadCell,
  currency: string | null,
  { unit, programUnit }: AmountSpelling,
): number | string {
  if (currency === null) {
    const reason =
      unit === 'major' ? 'is in major units' : 'is not a whole number of minor units (such as cents)';
    return `${reason}, and without its currency it is not known how many minor ones they are: fill in the currency`;
  }
  const digits = fractionDigits(currency, programUnit);
  if (decimal.fraction.replace(/0+$/, '').length > digits) {
    if (programUnit === 'minor' && !isCode(currency)) {
      return `has digits after the point, and ${currency} is no code of ISO 4217, such as EUR, so that nobody knows how many of them it has: correct the code, or write the whole number that the program has`;
    }
    return `has more digits than ${currency} has: ${digits} after the point`;
  }
  const amount = toUnits(decimal, digits);
  if (amount === null) return TOO_LARGE;
  // Excel keeps no trailing zeros, but somebody who types 83.9 may have lost a digit.
  if (unit === null && !isNumber && decimal.fraction.length !== digits) {
    return `has ${counted(decimal.fraction.length, 'digit')} after the point where ${currency} has ${digits}: write ${spellDecimal(amount, digits)} if it is ${formatMoney(amount, currency, programUnit)}, or give --unit major`;
  }
  return amount;
}

/** Of a whole number where nobody said the unit: minor units, unless its neighbours are in major ones. */
function inEither(
  decimal: Decimal,
  currency: string | null,
  { hasDecimals, programUnit }: AmountSpelling,
): number | string {
  const minor = toUnits(decimal, 0);
  if (minor === null) return TOO_LARGE;
  const digits = currency === null ? null : fractionDigits(currency, programUnit);
  if (!hasDecimals || digits === 0 || minor === 0) return minor;
  const doubt = 'has no decimals, and others of the file do';
  const major = digits === null ? null : toUnits(decimal, digits);
  if (digits === null || major === null) return `${doubt}: give --unit minor or major`;
  const [one, other] = [minor, major].map((amount) => formatMoney(amount, currency, programUnit));
  return `${doubt}: it is ${one}, or ${other}: write ${spellDecimal(major, digits)}, or give --unit minor or major`;
}

const TOO_LARGE = 'is too large';

/** Returns what is wrong with a text that is no number. Proposes no other one, unless it is the same beyond doubt. */
function describeOther(text: string, mark: DecimalMark | null): string {
  const other = mark === null ? null : readDecimal(text, mark === ',' ? '.' : ',');
  if (other !== null && mark !== null) {
    return `has another mark before its decimals than --locale or the rest of the file: write ${spell(other).replace('.', mark)}`;
  }
  return 'is not a number alone: write it such as 4990, or 49.90 with its currency in a column of its own';
}
