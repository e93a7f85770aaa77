// Reads a number as users spell it, without a float. Pure.

export type DecimalMark = ',' | '.';

/** The digits of a number, `fraction` as they were written: 1.234,50 is 1234 and 50. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

// Spaces (also those that do not break) and apostrophes group thousands in some places; so does the other mark.
const patternOf = (mark: string, other: string) =>
  new RegExp(`^(-?)(\\d+|\\d{1,3}([${other} \\u00a0\\u202f'’])\\d{3}(?:\\3\\d{3})*)(?:[${mark}](\\d+))?$`);

const PATTERNS: Readonly<Record<DecimalMark, RegExp>> = {
  ',': patternOf(',', '.'),
  '.': patternOf('.', ','),
};

/** Returns the number that the text spells with this mark before its decimals; null if it spells none. */
export function readDecimal(text: string, mark: DecimalMark): Decimal | null {
  const [match, sign, whole = '', , fraction = ''] = PATTERNS[mark].exec(text) ?? [];
  if (match === undefined) return null;
  const digits = whole.replace(/\D/g, '').replace(/^0+(?=\d)/, '');
  return { isNegative: sign === '-', whole: digits, fraction };
}

/** Returns every number that the text may spell: none, one, or two if it depends on the mark. */
export function readEitherWay(text: string): Decimal[] {
  const [point, comma] = [readDecimal(text, '.'), readDecimal(text, ',')];
  const isSame = point?.whole === comma?.whole && point?.fraction === comma?.fraction;
  return [point, isSame ? null : comma].filter((one) => one !== null);
}

/**
 * Returns the number in units of so many digits: 83,9 with 2 is 8390. Null if it has more digits, or is too large.
 */
export function toUnits({ isNegative, whole, fraction }: Decimal, digits: number): number | null {
  const kept = fraction.replace(/0+$/, '');
  if (kept.length > digits) return null;
  const units = Number(`${isNegative ? '-' : ''}${whole}${kept.padEnd(digits, '0')}`);
  // A file that says -0 says 0.
  return Number.isSafeInteger(units) ? units + 0 : null;
}

/** Returns the number as programs write it. */
export function spell({ isNegative, whole, fraction }: Decimal): string {
  return `${isNegative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
