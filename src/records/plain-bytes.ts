// Where plain values end in the bytes of a JSON text. Accepted is a subset of what JSON.parse and the contract's schema
// accept: a text without an escape, an integer that a double is sure to hold, a timestamp as nearly every program
// spells it.

import { BACKSLASH, COLON, endOfLiteral, NOWHERE, QUOTE } from '../contract/json-bytes.ts';
import { CERTAIN_DIGITS } from '../contract/parse-json.ts';

/** Returns the place after the value that begins at the given one; NOWHERE where it is not such a value. */
export type FindEnd = (bytes: Buffer, start: number) => number;

const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const LETTER_T = 84;
const LETTER_Z = 90;
const FIRST_PRINTABLE = 32;

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

export const endOfNull: FindEnd = (bytes, start) => endOfLiteral(bytes, start, NULL);

export const endOfBoolean: FindEnd = (bytes, start) =>
  endOfLiteral(bytes, start, bytes[start] === TRUE[0] ? TRUE : FALSE);

/** Control characters are no JSON; bytes that are UTF-8 hold no half of a surrogate pair. */
export const endOfText: FindEnd = (bytes, start) => {
  if (bytes[start] !== QUOTE) return NOWHERE;
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH || byte < FIRST_PRINTABLE) return NOWHERE;
  }
  return NOWHERE;
};

export const endOfInteger: FindEnd = (bytes, start) => {
  const first = bytes[start] === MINUS ? start + 1 : start;
  let at = first;
  while (isDigit(bytes[at])) at += 1;
  if (at === first || at - first > CERTAIN_DIGITS) return NOWHERE;
  // No number of more digits begins with 0, and -0 is not 0.
  return bytes[first] === ZERO && at - start > 1 ? NOWHERE : at;
};

export const ID_LENGTH = 36;
const HYPHENS_AT: ReadonlySet<number> = new Set([8, 13, 18, 23]);
const HEXADECIMAL = new Set([...Buffer.from('0123456789abcdef')]);
/** Of each byte of an identifier, what it may be. */
const IS_HYPHEN_AT = Array.from({ length: ID_LENGTH }, (_, index) => HYPHENS_AT.has(index));
const IS_HEXADECIMAL = Array.from({ length: 256 }, (_, byte) => HEXADECIMAL.has(byte));

/** A UUID of any variant and version, in lower case: it is stored as it is in the bytes. */
export const endOfIdentifier: FindEnd = (bytes, start) => {
  if (bytes[start] !== QUOTE) return NOWHERE;
  for (let index = 0; index < ID_LENGTH; index += 1) {
    const byte = bytes[start + 1 + index] ?? 0;
    if (IS_HYPHEN_AT[index] ? byte !== MINUS : !IS_HEXADECIMAL[byte]) return NOWHERE;
  }
  const end = start + 1 + ID_LENGTH;
  return bytes[end] === QUOTE ? end + 1 : NOWHERE;
};

const DAYS_OF_MONTH = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MOST_FRACTION_DIGITS = 6;

/** 2026-01-02T03:04[:05[.678901]] and Z, +0000 or +00:00, of the years 1000 to 2999, without 29 February. */
export const endOfTimestamp: FindEnd = (bytes, start) => {
  if (bytes[start] !== QUOTE) return NOWHERE;
  const at = start + 1;
  const century = twoDigits(bytes, at);
  const day = twoDigits(bytes, at + 8);
  const isDate =
    century >= 10 &&
    century <= 29 &&
    twoDigits(bytes, at + 2) !== NOWHERE &&
    bytes[at + 4] === MINUS &&
    bytes[at + 7] === MINUS &&
    day >= 1 &&
    // Of no month, undefined is not more.
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
  end = endOfZone(bytes, end);
  return end !== NOWHERE && bytes[end] === QUOTE ? end + 1 : NOWHERE;
};

function endOfZone(bytes: Buffer, at: number): number {
  if (bytes[at] === LETTER_Z) return at + 1;
  if (bytes[at] !== PLUS || twoDigits(bytes, at + 1) !== 0) return NOWHERE;
  const minutesAt = bytes[at + 3] === COLON ? at + 4 : at + 3;
  return twoDigits(bytes, minutesAt) === 0 ? minutesAt + 2 : NOWHERE;
}

function isBelow(bytes: Buffer, at: number, bound: number): boolean {
  const value = twoDigits(bytes, at);
  return value !== NOWHERE && value < bound;
}

/** Returns the number that two digits are; NOWHERE where they are none. */
function twoDigits(bytes: Buffer, at: number): number {
  const tens = bytes[at];
  const ones = bytes[at + 1];
  if (!isDigit(tens) || !isDigit(ones)) return NOWHERE;
  return (tens - ZERO) * 10 + ones - ZERO;
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** Returns the integer that endOfInteger has found. */
export function integerAt(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS;
  let value = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) {
    value = value * 10 + (bytes[at] as number) - ZERO;
  }
  return isNegative ? -value : value;
}

/** Of later years, a number does not hold the microseconds since 1970. */
export const LAST_EXACT_YEAR = 2254;

/** Returns the year of a timestamp that endOfTimestamp has found; `at` is behind its quote. */
export function yearOf(bytes: Buffer, at: number): number {
  return twoDigits(bytes, at) * 100 + twoDigits(bytes, at + 2);
}

/** Returns its microseconds since 1970: exact up to LAST_EXACT_YEAR. */
export function microsOf(bytes: Buffer, at: number): number {
  const hasSeconds = bytes[at + 16] === COLON;
  const seconds = hasSeconds ? twoDigits(bytes, at + 17) : 0;
  const month = twoDigits(bytes, at + 5) - 1;
  const day = twoDigits(bytes, at + 8);
  const ms = Date.UTC(
    yearOf(bytes, at),
    month,
    day,
    twoDigits(bytes, at + 11),
    twoDigits(bytes, at + 14),
    seconds,
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
