// A nested record as its text. An affiliate is in a thousand referrals, spelled alike each time: the same text gives
// the same object, which is recognised without being parsed or compared field by field.

import { parseAt, SPACE } from '../contract/json-text.ts';
import { parseJson } from '../contract/parse-json.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import { keepNewest } from './keep-newest.ts';

/** No JSON value has it. */
const TEXT = Symbol('text');

export interface NestedText {
  readonly id: string;
  readonly [TEXT]: string;
}

/** Returns the record in the contract's spelling, where it is one as its text; any other value as it is. */
export function recordOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(TEXT in value)) return value;
  return toContractSpelling(parseJson((value as NestedText)[TEXT]));
}

export interface NestedTexts {
  /**
   * Returns the record whose text begins at the place, and the place after it; null where it is to be parsed: it is no
   * JSON, or does not begin with its identifier.
   */
  read(text: string, at: number): { readonly value: NestedText; readonly end: number } | null;
}

const ID_LENGTH = 36;

const BEGINNING = new RegExp(`\\{${SPACE}"id"${SPACE}:${SPACE}"([0-9a-fA-F-]{36})"`, 'y');

/** Returns what knows no text yet, for the records of one table. */
export function makeNestedTexts(): NestedTexts {
  const known = new Map<string, NestedText>();
  /** Where the last record had its identifier. Most have it there; a wrong guess finds no record, or no equal text. */
  let idAt = 0;
  return {
    read(text, at) {
      const guessed = known.get(text.slice(at + idAt, at + idAt + ID_LENGTH));
      if (guessed !== undefined && isThere(guessed, text, at)) {
        return { value: guessed, end: at + guessed[TEXT].length };
      }
      BEGINNING.lastIndex = at;
      const id = BEGINNING.exec(text)?.[1];
      if (id === undefined) return null;
      idAt = BEGINNING.lastIndex - at - ID_LENGTH - 1;
      const held = known.get(id);
      if (held !== undefined && isThere(held, text, at)) {
        return { value: held, end: at + held[TEXT].length };
      }
      const parsed = parseAt(text, at);
      if (parsed === null) return null;
      const record = parsed.value as { id: string };
      // An identifier that comes twice in its object is not the one above.
      if (record.id !== id) return null;
      const value = { id: record.id, [TEXT]: withoutPage(text.slice(at, parsed.end)) };
      keepNewest(known, value.id, value);
      return { value, end: parsed.end };
    },
  };
}

function isThere(nested: NestedText, text: string, at: number): boolean {
  return text.slice(at, at + nested[TEXT].length) === nested[TEXT];
}

/** Returns the same text in memory of its own: a slice keeps all of its page. */
export function withoutPage(slice: string): string {
  return Buffer.from(slice).toString();
}
