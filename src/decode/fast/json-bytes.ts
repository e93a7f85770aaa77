// Finds and parses single values in the bytes of a JSON text. Where a value ends is found by its strings and brackets;
// the parser says whether it is JSON. A place beyond the end holds no byte, and so no value.

import { parseJson } from '../../contract/parse-json.ts';

/** Space between the tokens of JSON, as the source of a regular expression. */
export const SPACE = '[ \\t\\n\\r]*';

export const QUOTE = 34;
const COMMA = 44;
export const COLON = 58;
export const OPENING_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/** No place: the value is not there. */
export const NOWHERE = -1;

/** Returns the value that begins at the place, as parseJson reads it, and the place after it; null if none does. */
export function parseAt(bytes: Buffer, at: number): { readonly value: unknown; readonly end: number } | null {
  const end = endOfValue(bytes, at);
  const value = end === NOWHERE ? undefined : parseJson(bytes.toString('utf8', at, end));
  return value === undefined ? null : { value, end };
}

/** Returns the place after the literal, if it is at the given place; else NOWHERE. */
export function endOfLiteral(bytes: Buffer, start: number, literal: Buffer): number {
  const { length } = literal;
  for (let index = 0; index < length; index += 1) {
    if (bytes[start + index] !== literal[index]) return NOWHERE;
  }
  return start + length;
}

/** Returns whether the page has the same bytes at the place. */
export function isAt(bytes: Buffer, page: Buffer, at: number): boolean {
  const end = at + bytes.length;
  return end <= page.length && page.compare(bytes, 0, bytes.length, at, end) === 0;
}

/**
 * Reads the items of an array, the first of which would begin at the place, and returns the place of the bracket that
 * closes it. `readItem` returns the place after the item that begins at the given one.
 * NOWHERE if it is no array, or an item could not be read.
 */
export function readItems(bytes: Buffer, start: number, readItem: (at: number) => number): number {
  let at = skipSpace(bytes, start);
  if (bytes[at] === CLOSING_BRACKET) return at;
  for (;;) {
    const end = readItem(at);
    if (end === NOWHERE) return NOWHERE;
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSING_BRACKET) return at;
    if (bytes[at] !== COMMA) return NOWHERE;
    at = skipSpace(bytes, at + 1);
  }
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

/** Returns the place after the value; any place if it is no JSON. */
export function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start);
  if (first !== OPENING_BRACE && first !== OPENING_BRACKET) return endOfWord(bytes, start);
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (end === NOWHERE) return NOWHERE;
      at = end - 1;
    } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1;
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return NOWHERE;
}

function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at + 1;
  }
  return NOWHERE;
}

const WORD = /^[^ \t\n\r,:"[\]{}]+/;
const LONGEST_WORD = 64;

/** Returns the end of a number, or of true, false or null; a place within a word that is longer. */
function endOfWord(bytes: Buffer, start: number): number {
  const word = WORD.exec(bytes.toString('latin1', start, start + LONGEST_WORD));
  return word === null ? NOWHERE : start + word[0].length;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}
