// Where plain values end in the bytes of a JSON text, and what numbers they are. Accepted is a subset of what
// JSON.parse and the contract's schema accept: a text without an escape, an integer that a double is sure to hold, a
// timestamp as nearly every program spells it. Every other value is parsed (see record-shape.ts).

import type { FieldType } from '../../contract/declare.ts';
import { CERTAIN_DIGITS } from '../../contract/parse-json.ts';
import { BACKSLASH, COLON, endOfLiteral, NOWHERE, QUOTE } from './json-bytes.ts';

/** Returns the place after the value that begins at the given one; NOWHERE if it is not such a value. */
export type FindEnd = (bytes: Buffer, start: number) => number;

const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const LETTER_T = 84;
const LETTER_A = 97;
const LETTER_F = 102;
const LETTER_Z = 90;
const FIRST_PRINTABLE = 32;

const NULL = Buffer.from('null');
const NO_OFFSET = Buffer.from('+0000');

export const endOfNull: FindEnd = (bytes, start) => endOfLiteral(bytes, start, NULL);

/** Control characters are no JSON; bytes that are UTF-8 hold no half of a surrogate pair. */
const endOfText: FindEnd = (bytes, start) => {
  if (bytes[start] !== QUOTE) return NOWHERE;
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH || byte < FIRST_PRINTABLE) return NOWHERE;
  }
  return NOWHERE;
};

/** A number with a fraction or an exponent, one of too many digits and -0 are parsed. */
const INTEGER = new RegExp(`^(?:0|-?[1-9]\\d{0,${CERTAIN_DIGITS - 1}})(?![\\d.eE])`);

const endOfInteger: FindEnd = (bytes, start) => {
  const found = INTEGER.exec(bytes.toString('latin1', start, start + CERTAIN_DIGITS + 2));
  return found === null ? NOWHERE : start + found[0].length;
};

export const ID_LENGTH = 36;
const HYPHENS_AT = [8, 13, 18, 23];

/** A UUID of any variant and version, in lower case: it is stored as it is in the bytes. */
const endOfIdentifier: FindEnd = (bytes, start) => {
  if (bytes[start] !== QUOTE) return NOWHERE;
  for (let index = 0; index < ID_LENGTH; index += 1) {
    const byte = bytes[start + 1 + index] ?? 0;
    if (HYPHENS_AT.includes(index) ? byte !== MINUS : !isHexadecimal(byte)) return NOWHERE;
  }
  const end = start + 1 + ID_LENGTH;
  return bytes[end] === QUOTE ? end + 1 : NOWHERE;
};

function isHexadecimal(byte: number): boolean {
  return isDigit(byte) || (byte >= LETTER_A && byte <= LETTER_F);
}

const DAYS_OF_MONTH = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MOST_FRACTION_DIGITS = 6;

/**
 * 2026-01-02T03:04[:05[.678901]] and Z or +0000, without 29 February, of the years 1800 to 2199: a number holds
 * their microseconds since 1970.
 */
const endOfTimestamp: FindEnd = (bytes, start) => {
  if (bytes[start] !== QUOTE) return NOWHERE;
  const at = start + 1;
  const century = twoDigits(bytes, at);
  const day = twoDigits(bytes, at + 8);
  const isDate =
    century >= 18 &&
    century <= 21 &&
    twoDigits(bytes, at + 2) !== NOWHERE &&
    bytes[at + 4] === MINUS &&
    bytes[at + 7] === MINUS &&
    day >= 1 &&
    day <= (DAYS_OF_MONTH[twoDigits(bytes, at + 5)] ?? 0);
  if (!isDate || bytes[at + 10] !== LETTER_T || !isBelow(bytes, at + 11, 24)) return NOWHERE;
  if (bytes[at + 13] !== COLON || !isBelow(bytes, at + 14, 60)) return NOWHERE;
  let end = at + 16;
  if (bytes[end] === COLON) {
    if (!isBelow(bytes, end + 1, 60)) return NOWHERE;
    end += 3;
    if (bytes[end] === POINT) {
      const first = end + 1;
      end = first;
      while (isDigit(bytes[end])) end += 1;
      if (end === first || end - first > MOST_FRACTION_DIGITS) return NOWHERE;
    }
  }
  end = bytes[end] === LETTER_Z ? end + 1 : endOfLiteral(bytes, end, NO_OFFSET);
  return end !== NOWHERE && bytes[end] === QUOTE ? end + 1 : NOWHERE;
};

function isBelow(bytes: Buffer, at: number, bound: number): boolean {
  const value = twoDigits(bytes, at);
  return value !== NOWHERE && value < bound;
}

/** Returns the number of two digits; NOWHERE if they are none. */
function twoDigits(bytes: Buffer, at: number): number {
  const tens = bytes[at];
  const ones = bytes[at + 1];
  if (!isDigit(tens) || !isDigit(ones)) return NOWHERE;
  return (tens - ZERO) * 10 + ones - ZERO;
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** By the type of a field. Values of other types are parsed. */
export const FIND_END = {
  identifier: endOfIdentifier,
  text: endOfText,
  timestamp: endOfTimestamp,
  integer: endOfInteger,
} as const satisfies { readonly [type in FieldType]?: FindEnd };

/** Returns the integer that was found. */
export function integerAt(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) {
    value = value * 10 + (bytes[at] as number) - ZERO;
  }
  return isNegative ? -value : value;
}

/** Returns the microseconds since 1970 of a timestamp that was found; `at` is behind its quote. */
export function microsAt(bytes: Buffer, at: number): number {
  const hasSeconds = bytes[at + 16] === COLON;
  const ms = Date.UTC(
    twoDigits(bytes, at) * 100 + twoDigits(bytes, at + 2),
    twoDigits(bytes, at + 5) - 1,
    twoDigits(bytes, at + 8),
    twoDigits(bytes, at + 11),
    twoDigits(bytes, at + 14),
    hasSeconds ? twoDigits(bytes, at + 17) : 0,
  );
  let micros = 0;
  if (hasSeconds && bytes[at + 19] === POINT) {
    let unit = MICROS_PER_SECOND / 10;
    for (let digit = at + 20; isDigit(bytes[digit]); digit += 1) {
      micros += ((bytes[digit] as number) - ZERO) * unit;
      unit /= 10;
    }
  }
  return ms * 1000 + micros;
}

const MICROS_PER_SECOND = 1_000_000;
