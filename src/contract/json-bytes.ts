// Parses single values out of the bytes of a JSON text. Where a value ends is found by its strings and brackets; the
// parser says whether it is JSON. A place beyond the end holds no byte, and so no value.

import { parseJson } from './parse-json.ts';

/** What may be between the tokens of JSON, as the source of a regular expression. */
export const SPACE = '[ \\t\\n\\r]*';

export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const BACKSLASH = 92;
const OPENING_BRACKET = 91;
export const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/** No place: what was looked for is not there. */
export const NOWHERE = -1;

/** Returns the value that begins at the place, as parseJson reads it, and the place after it; null where none does. */
export function parseAt(bytes: Buffer, at: number): { readonly value: unknown; readonly end: number } | null {
  const end = endOfValue(bytes, at);
  const value = end === NOWHERE ? undefined : parseJson(bytes.toString('utf8', at, end));
  return value === undefined ? null : { value, end };
}

/** A field of an object, and the places of its value. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the fields of the object that begins at the place, which is JSON, in their order; null where one has an
 * escape in its name.
 */
export function membersAt(bytes: Buffer, at: number): readonly Member[] | null {
  const members: Member[] = [];
  let next = skipSpace(bytes, at + 1);
  while (bytes[next] === QUOTE) {
    const nameEnd = endOfString(bytes, next);
    const name = bytes.toString('utf8', next + 1, nameEnd - 1);
    if (nameEnd === NOWHERE || name.includes('\\')) return null;
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = endOfValue(bytes, start);
    if (end === NOWHERE) return null;
    members.push({ name, start, end });
    next = skipSpace(bytes, end);
    if (bytes[next] === COMMA) next = skipSpace(bytes, next + 1);
  }
  return members;
}

/** Returns the first place from the given one that holds no space. */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

/** Returns the place after what the bytes hold at the given one, if it is just that. */
export function endOfLiteral(bytes: Buffer, start: number, literal: Buffer): number {
  const { length } = literal;
  for (let index = 0; index < length; index += 1) {
    if (bytes[start + index] !== literal[index]) return NOWHERE;
  }
  return start + length;
}

// Of what is no JSON it may be any place.
function endOfValue(bytes: Buffer, start: number): number {
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

/** Of a number, or of true, false or null. */
function endOfWord(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && !endsWord(bytes[at])) at += 1;
  return at === start ? NOWHERE : at;
}

function endsWord(byte: number | undefined): boolean {
  return (
    isSpace(byte) ||
    byte === COMMA ||
    byte === COLON ||
    byte === QUOTE ||
    byte === OPENING_BRACE ||
    byte === OPENING_BRACKET ||
    byte === CLOSING_BRACE ||
    byte === CLOSING_BRACKET
  );
}

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}
