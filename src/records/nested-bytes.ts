// A nested record as its bytes. An affiliate is in a thousand referrals, spelled alike each time: bytes that are what
// the run has read of the record before are recognised without being parsed or compared field by field.

import { parseAt, SPACE } from '../contract/json-bytes.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import { ID_LENGTH } from './plain-bytes.ts';

/** No JSON value has it: the buffer that holds the record among others. */
const BUFFER = Symbol('buffer');

export interface NestedBytes {
  readonly id: string;
  readonly [BUFFER]: Buffer;
  /** Where it begins in the buffer, and the place after it. */
  readonly start: number;
  readonly end: number;
}

/** Returns the record in the contract's spelling, where it is one as its bytes; any other value as it is. */
export function recordOf(value: unknown): unknown {
  return isNestedBytes(value) ? toContractSpelling(parseAt(value[BUFFER], value.start)?.value) : value;
}

/** Returns whether both are the same bytes; of parsed records, it is not known. */
export function isSameBytes(left: object, right: object): boolean {
  if (!isNestedBytes(left) || !isNestedBytes(right)) return false;
  return lengthOf(left) === lengthOf(right) && isAt(left, right[BUFFER], right.start);
}

function isNestedBytes(value: unknown): value is NestedBytes {
  return typeof value === 'object' && value !== null && BUFFER in value;
}

export interface NestedReader {
  /**
   * Returns the record that begins at the place, and the place after it; null where it is to be parsed: it is no JSON,
   * or does not begin with its identifier in lower case.
   */
  read(bytes: Buffer, at: number): { readonly value: NestedBytes; readonly end: number } | null;
}

const DIGITS_MIXED = 8;
/** As far as its identifier is looked for. */
const BEGINNING_BYTES = 100;

const BEGINNING = new RegExp(`^\\{${SPACE}"id"${SPACE}:${SPACE}"[0-9a-f-]{36}"`);

/**
 * So many records are found again by their bytes alone. More would keep records for long that the run has forgotten;
 * one that is not among them is found by its identifier.
 */
const RECENT_RECORDS = 2 ** 14;

/** Returns what reads the records of one table. `findRead` returns what the run has read of a record last. */
export function makeNestedReader(findRead: (id: string) => object | undefined): NestedReader {
  /** Each at the place that its identifier gives it; of two with the same place, the last. */
  const recent: (NestedBytes | undefined)[] = new Array(RECENT_RECORDS).fill(undefined);
  /** Where the last record had its identifier. Most have it there; a wrong guess finds no record, or no equal bytes. */
  let idAt = 0;
  const copy = makeCopies();
  /** Returns the record; null where the bytes are no JSON, or another identifier comes behind in its object. */
  const readAt = (bytes: Buffer, at: number, id: string): NestedBytes | null => {
    const parsed = parseAt(bytes, at);
    if (parsed === null || (parsed.value as { id: string }).id !== id) return null;
    return copy(id, bytes, at, parsed.end);
  };
  return {
    read(bytes, at) {
      const guessed = recent[placeOf(bytes, at + idAt)];
      if (guessed !== undefined && isAt(guessed, bytes, at)) return endedBehind(guessed, at);
      const beginning = BEGINNING.exec(bytes.toString('latin1', at, at + BEGINNING_BYTES));
      if (beginning === null) return null;
      idAt = beginning[0].length - ID_LENGTH - 1;
      const id = bytes.toString('latin1', at + idAt, at + idAt + ID_LENGTH);
      const known = findRead(id);
      const value = isNestedBytes(known) && isAt(known, bytes, at) ? known : readAt(bytes, at, id);
      if (value === null) return null;
      recent[placeOf(bytes, at + idAt)] = value;
      return endedBehind(value, at);
    },
  };
}

/** Returns a number below RECENT_RECORDS for an identifier; its first and its last digits are enough. */
function placeOf(bytes: Buffer, idAt: number): number {
  let mixed = 0;
  for (let index = 0; index < DIGITS_MIXED; index += 1) {
    mixed = Math.imul(mixed, 31) + (bytes[idAt + index] ?? 0);
    mixed = Math.imul(mixed, 31) + (bytes[idAt + ID_LENGTH - 1 - index] ?? 0);
  }
  return mixed & (RECENT_RECORDS - 1);
}

function isAt(record: NestedBytes, bytes: Buffer, at: number): boolean {
  const end = at + lengthOf(record);
  return end <= bytes.length && bytes.compare(record[BUFFER], record.start, record.end, at, end) === 0;
}

function endedBehind(value: NestedBytes, at: number) {
  return { value, end: at + lengthOf(value) };
}

function lengthOf({ start, end }: NestedBytes): number {
  return end - start;
}

const KEPT_TOGETHER_BYTES = 64 * 1024;

/**
 * Returns what copies a record out of its page, which would stay in memory with it. Many share a buffer: one for each
 * would take as much memory again as the record.
 */
function makeCopies(): (id: string, bytes: Buffer, from: number, to: number) => NestedBytes {
  let buffer = Buffer.alloc(0);
  let used = 0;
  return (id, bytes, from, to) => {
    const length = to - from;
    if (used + length > buffer.length) {
      // Not of the pool of small buffers, all of which would stay.
      buffer = Buffer.allocUnsafeSlow(Math.max(KEPT_TOGETHER_BYTES, length));
      used = 0;
    }
    bytes.copy(buffer, used, from, to);
    used += length;
    return { id, [BUFFER]: buffer, start: used - length, end: used };
  };
}
