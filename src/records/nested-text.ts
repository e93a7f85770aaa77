// A nested record as its text. An affiliate is in a thousand referrals, spelled alike each time: text that is what the
// run has read of the record before is recognised without being parsed or compared field by field.

import { parseAt, SPACE } from '../contract/json-text.ts';
import { parseJson } from '../contract/parse-json.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';

/** No JSON value has it. */
const TEXT = Symbol('text');

export interface NestedText {
  readonly id: string;
  readonly [TEXT]: string;
}

/** Returns the record in the contract's spelling, where it is one as its text; any other value as it is. */
export function recordOf(value: unknown): unknown {
  return isNestedText(value) ? toContractSpelling(parseJson(value[TEXT])) : value;
}

/** Returns whether both are the same text; of parsed records, it is not known. */
export function isSameText(left: object, right: object): boolean {
  return isNestedText(left) && isNestedText(right) && left[TEXT] === right[TEXT];
}

function isNestedText(value: unknown): value is NestedText {
  return typeof value === 'object' && value !== null && TEXT in value;
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

/** Returns what reads the records of one table. `findRead` returns what the run has read of a record last. */
export function makeNestedTexts(findRead: (id: string) => object | undefined): NestedTexts {
  /** Returns the record where it is read already, just as it is there. */
  const findThere = (id: string, text: string, at: number) => {
    const known = findRead(id);
    if (!isNestedText(known) || text.slice(at, at + known[TEXT].length) !== known[TEXT]) return null;
    return { value: known, end: at + known[TEXT].length };
  };
  /** Where the last record had its identifier. Most have it there; a wrong guess finds no record, or no equal text. */
  let idAt = 0;
  return {
    read(text, at) {
      const guessed = findThere(text.slice(at + idAt, at + idAt + ID_LENGTH), text, at);
      if (guessed !== null) return guessed;
      BEGINNING.lastIndex = at;
      const id = BEGINNING.exec(text)?.[1];
      if (id === undefined) return null;
      idAt = BEGINNING.lastIndex - at - ID_LENGTH - 1;
      const found = findThere(id, text, at);
      if (found !== null) return found;
      const parsed = parseAt(text, at);
      if (parsed === null) return null;
      const record = parsed.value as { id: string };
      // An identifier that comes twice in its object is not the one above.
      if (record.id !== id) return null;
      return {
        value: { id: record.id, [TEXT]: withoutPage(text.slice(at, parsed.end)) },
        end: parsed.end,
      };
    },
  };
}

/** Returns the same text in memory of its own: a slice keeps all of its page. */
export function withoutPage(slice: string): string {
  return Buffer.from(slice).toString();
}
