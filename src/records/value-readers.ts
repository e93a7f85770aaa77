// What reads the values of a record where they are in its page, each by what the contract says of its field.

import { z } from 'zod';
import { identifier, integer, text, timestamp } from '../contract/fields.ts';
import { NOWHERE, parseAt } from '../contract/json-bytes.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import { makeFastCheck } from './fast-check.ts';
import type { MirroredTable } from './mirrored-tables.ts';
import type { NestedReader } from './nested-bytes.ts';
import {
  endOfBoolean,
  endOfIdentifier,
  endOfInteger,
  endOfNull,
  endOfText,
  endOfTimestamp,
  type FindEnd,
} from './plain-bytes.ts';
import type { RecordKind } from './record-kinds.ts';
import { IS_NULL } from './spans.ts';

/** What reads the nested records of each table; a table without is parsed. */
export type NestedReaders = ReadonlyMap<MirroredTable, NestedReader>;

/** A record while it is read. */
export interface Reading {
  /** As those of Spans. */
  readonly bounds: number[];
  readonly values: unknown[];
  readonly nested: unknown[];
  readonly unknown: [string, unknown][];
}

/** Reads the value that begins at the place into the record, and returns the place after it; NOWHERE if it cannot. */
export type ReadValue = (into: Reading, bytes: Buffer, at: number) => number;

/** Returns what reads the records that are nested in a field. */
export function nestedReaderOf(kind: RecordKind, name: string, readers: NestedReaders): ReadValue | null {
  const index = kind.nestedFields.indexOf(name);
  const nesting = kind.nested[index];
  if (nesting === undefined) return null;
  const reader = nesting.isList ? undefined : readers.get(nesting.table);
  return ({ nested }, bytes, at) => {
    if (reader !== undefined && endOfNull(bytes, at) === NOWHERE) {
      const read = reader.read(bytes, at);
      if (read === null) return NOWHERE;
      nested[index] = read.value;
      return read.end;
    }
    const parsed = parseAt(bytes, at);
    if (parsed === null) return NOWHERE;
    nested[index] = toContractSpelling(parsed.value);
    return parsed.end;
  };
}

/** Returns what reads an own field that holds any JSON. */
export function jsonReaderOf(schema: z.core.$ZodType, place: number): ReadValue {
  const isPlain = makeFastCheck(schema);
  return ({ values }, bytes, at) => {
    const parsed = parseAt(bytes, at);
    if (parsed === null || !isPlain(parsed.value)) return NOWHERE;
    values[place] = parsed.value;
    return parsed.end;
  };
}

/** Returns what reads a field that the contract does not know, where its value is plain. */
export function unknownReaderOf(name: string): ReadValue {
  return ({ unknown }, bytes, at) => {
    for (const findEnd of [endOfText, endOfInteger, endOfBoolean, endOfNull]) {
      const end = findEnd(bytes, at);
      if (end === NOWHERE) continue;
      unknown.push([name, JSON.parse(bytes.toString('utf8', at, end))]);
      return end;
    }
    return NOWHERE;
  };
}

interface Plain {
  readonly findEnd: FindEnd;
  readonly isQuoted: boolean;
}

const PLAIN: ReadonlyMap<unknown, Plain> = new Map<unknown, Plain>([
  [identifier, { findEnd: endOfIdentifier, isQuoted: true }],
  [timestamp, { findEnd: endOfTimestamp, isQuoted: true }],
  [text, { findEnd: endOfText, isQuoted: true }],
  [integer, { findEnd: endOfInteger, isQuoted: false }],
]);
const PLAIN_BOOLEAN: Plain = { findEnd: endOfBoolean, isQuoted: false };

/** Returns what reads a plain value; null where the schema takes any JSON. */
export function plainReaderOf(schema: z.core.$ZodType, place: number): ReadValue | null {
  if (schema instanceof z.ZodOptional) return plainReaderOf(schema.unwrap(), place);
  if (schema instanceof z.ZodNullable) {
    const inner = plainReaderOf(schema.unwrap(), place);
    return (
      inner &&
      ((into, bytes, at) => {
        const end = endOfNull(bytes, at);
        if (end === NOWHERE) return inner(into, bytes, at);
        into.bounds[place * 2] = IS_NULL;
        return end;
      })
    );
  }
  const plain = schema instanceof z.ZodBoolean ? PLAIN_BOOLEAN : PLAIN.get(schema);
  if (plain === undefined) return null;
  const { findEnd, isQuoted } = plain;
  const quote = isQuoted ? 1 : 0;
  return ({ bounds }, bytes, at) => {
    const end = findEnd(bytes, at);
    bounds[place * 2] = at + quote;
    bounds[place * 2 + 1] = end - quote;
    return end;
  };
}
