// The form in which a program spells a kind of record: which fields, in which order. Made from one record of the form
// and the contract's schemas; others of it are found, checked and taken apart by regular expressions, in between which
// nested records are read. It accepts a subset of what JSON.parse and the schema accept: a record with an escape, an
// odd number, more or other fields than the one it was made from, or another order is left to them.
//
// Why regular expressions: V8 compiles one to machine code when it is first used, but interprets JavaScript until it is
// worth compiling, and a sync of 100,000 records is over soon after that.

import { z } from 'zod';
import { identifier, integer, text, timestamp } from '../contract/fields.ts';
import { parseAt, SPACE } from '../contract/json-text.ts';
import { customerSchema } from '../contract/referral.ts';
import { toContractSpelling, WIRE_ALIASES } from '../contract/wire-aliases.ts';
import { makeFastCheck, PLAIN_TIMESTAMP } from './fast-check.ts';
import { COLUMN_NAMES, type MirroredTable } from './mirrored-tables.ts';
import { type NestedTexts, withoutPage } from './nested-text.ts';
import { makePlainRecord, type PlainRecord } from './plain-record.ts';
import { CUSTOMER_FIELDS, type RecordKind } from './record-kinds.ts';
import type { CheckedRecord } from './rows-of-record.ts';

export interface RecordForm {
  /** Returns the record whose text begins at the place, and the place after it; null where it is not of this form. */
  read(text: string, at: number): { readonly record: PlainRecord; readonly end: number } | null;
}

/** What reads the nested records of each table; a table without is parsed. */
export type NestedReaders = ReadonlyMap<MirroredTable, NestedTexts>;

type Held = 'text' | 'integer' | 'boolean';

/** What a group of a pattern holds: the value of a column, or that of a field which the contract does not know. */
type Group =
  | { readonly place: number; readonly holds: Held }
  | { readonly unknown: string; readonly holds: 'json' };

/** Reads a value that no pattern describes into the record, and returns the place after it; null where it cannot. */
type ReadValue = (into: { values: unknown[]; nested: unknown[] }, text: string, at: number) => number | null;

/** A part of a record that a pattern describes. */
interface Segment {
  readonly pattern: RegExp;
  readonly groups: readonly Group[];
  /** Reads the value behind it; null at the record's end. */
  readonly readValue: ReadValue | null;
}

/**
 * Returns the form of a record as it came; null where it lacks a field of the contract, or has one beyond it that is
 * not plain.
 */
export function makeRecordForm(kind: RecordKind, record: object, readers: NestedReaders): RecordForm | null {
  const segments = buildSegments(kind, record, readers);
  if (segments === null) return null;
  const sample = toContractSpelling(record) as CheckedRecord;
  // Where the customer is null, so are its columns, which no group holds.
  const blank: unknown[] = COLUMN_NAMES[kind.table].map((_, place) =>
    sample['customer'] === null && kind.customer.some((column) => column.place === place) ? null : undefined,
  );
  return {
    read(text, start) {
      const values = [...blank];
      const unknown: [string, unknown][] = [];
      const nested: unknown[] = new Array(kind.nested.length).fill(undefined);
      let at = start;
      for (const { pattern, groups, readValue } of segments) {
        pattern.lastIndex = at;
        const found = pattern.exec(text);
        if (found === null) return null;
        at = pattern.lastIndex;
        for (let index = 0; index < groups.length; index += 1) {
          const group = groups[index] as Group;
          const held = found[index + 1];
          if (group.holds === 'json') unknown.push([group.unknown, JSON.parse(held as string)]);
          else if (held === undefined) values[group.place] = null;
          else if (group.holds === 'text') values[group.place] = held;
          else values[group.place] = group.holds === 'integer' ? Number(held) : held === 'true';
        }
        const after = readValue === null ? at : readValue({ values, nested }, text, at);
        if (after === null) return null;
        at = after;
      }
      // Identifiers are kept until the record is loaded, and longer.
      const id = withoutPage(values[0] as string);
      values[0] = id;
      const extra = unknown.length === 0 ? null : Object.fromEntries(unknown);
      return {
        record: makePlainRecord({ id, values, extra, nested, sample }, text.slice(start, at)),
        end: at,
      };
    },
  };
}

function buildSegments(kind: RecordKind, sample: object, readers: NestedReaders): Segment[] | null {
  const segments: Segment[] = [];
  const names = new Set<string>();
  let source = `\\{${SPACE}`;
  let groups: Group[] = [];
  const end = (readValue: ReadValue | null) => {
    segments.push({ pattern: new RegExp(source, 'y'), groups, readValue });
    source = '';
    groups = [];
  };
  for (const [key, value] of Object.entries(sample)) {
    const name = WIRE_ALIASES.get(key) ?? key;
    // Of two spellings of a field, one is the contract's, and the other an unknown field.
    if (names.has(name)) return null;
    source += `${names.size === 0 ? '' : COMMA}"${key}"${SPACE}:${SPACE}`;
    names.add(name);
    const readValue = nestedReaderOf(kind, name, readers) ?? jsonReaderOf(kind, name);
    const pattern =
      readValue === null ? (patternOfField(kind, name, value) ?? patternOfUnknown(kind, name, value)) : null;
    if (readValue !== null) end(readValue);
    else if (pattern === null) return null;
    else {
      source += pattern.source;
      groups.push(...pattern.groups);
    }
  }
  source += `${SPACE}\\}`;
  end(null);
  const isWhole = Object.entries(kind.schema.shape).every(
    ([name, schema]) => names.has(name) || makeFastCheck(schema)(undefined),
  );
  return isWhole ? segments : null;
}

const COMMA = `${SPACE},${SPACE}`;

/** Returns what reads the records that are nested in a field; null where none are. */
function nestedReaderOf(kind: RecordKind, name: string, readers: NestedReaders): ReadValue | null {
  const index = kind.nestedFields.indexOf(name);
  const nesting = kind.nested[index];
  if (nesting === undefined) return null;
  const reader = nesting.isList ? undefined : readers.get(nesting.table);
  return ({ nested }, text, at) => {
    const isRead = reader !== undefined && !text.startsWith('null', at);
    const read = isRead ? reader.read(text, at) : parseAt(text, at);
    if (read === null) return null;
    nested[index] = isRead ? read.value : toContractSpelling(read.value);
    return read.end;
  };
}

/** Returns what reads an own field that holds any JSON; null where it is none. */
function jsonReaderOf(kind: RecordKind, name: string): ReadValue | null {
  const column = kind.placed.find(({ field }) => field === name);
  const schema = kind.schema.shape[name];
  if (column === undefined || schema === undefined || patternOf(schema) !== null) return null;
  const isPlain = makeFastCheck(schema);
  return ({ values }, text, at) => {
    const read = parseAt(text, at);
    if (read === null || !isPlain(read.value)) return null;
    values[column.place] = read.value;
    return read.end;
  };
}

interface Pattern {
  readonly source: string;
  readonly groups: readonly Group[];
}

function patternOfField(kind: RecordKind, name: string, sample: unknown): Pattern | null {
  if (name === 'customer' && kind.customer.length > 0) return patternOfCustomer(kind, sample);
  const column = kind.placed.find(({ field }) => field === name);
  const schema = kind.schema.shape[name];
  const pattern = schema === undefined ? null : patternOf(schema);
  if (column === undefined || pattern === null) return null;
  return { source: pattern.source, groups: [{ place: column.place, holds: pattern.holds }] };
}

/** Returns the pattern of a field that the contract does not know; null where its value, or its name, is not plain. */
function patternOfUnknown(kind: RecordKind, name: string, sample: unknown): Pattern | null {
  const isPlain = sample === null || typeof sample !== 'object';
  if (kind.ownFields.has(name) || !isPlain || !/^\w+$/.test(name)) return null;
  return { source: PLAIN_JSON, groups: [{ unknown: name, holds: 'json' }] };
}

function patternOfCustomer({ customer }: RecordKind, sample: unknown): Pattern | null {
  if (sample === null) return { source: 'null', groups: [] };
  if (typeof sample !== 'object' || Object.keys(sample).length !== CUSTOMER_FIELDS.length) return null;
  const groups: Group[] = [];
  const fields: string[] = [];
  for (const name in sample) {
    const column = customer.find(({ field }) => field === name);
    const schema: z.core.$ZodType | undefined =
      customerSchema.shape[name as keyof typeof customerSchema.shape];
    const pattern = schema === undefined ? null : patternOf(schema);
    if (column === undefined || pattern === null) return null;
    groups.push({ place: column.place, holds: pattern.holds });
    fields.push(`"${name}"${SPACE}:${SPACE}${pattern.source}`);
  }
  return { source: `(?:null|\\{${SPACE}${fields.join(COMMA)}${SPACE}\\})`, groups };
}

interface ValuePattern {
  readonly source: string;
  readonly holds: Held;
}

// As many digits as a double is sure to hold.
const INTEGER = '0|-?[1-9]\\d{0,14}';
// Without an escape. JSON has no control characters, and a page, which is UTF-8, no half of a surrogate pair.
const TEXT = '[^"\\\\\\0-\\x1f]*';
const PLAIN_JSON = `(null|true|false|${INTEGER}|"${TEXT}")`;

const PATTERNS: ReadonlyMap<unknown, ValuePattern> = new Map<unknown, ValuePattern>([
  [identifier, { source: `"(${inner(z.regexes.guid)})"`, holds: 'text' }],
  [timestamp, { source: `"(${inner(PLAIN_TIMESTAMP)})"`, holds: 'text' }],
  [integer, { source: `(${INTEGER})`, holds: 'integer' }],
  [text, { source: `"(${TEXT})"`, holds: 'text' }],
]);

/** Returns the pattern of a field's value, with one group; null where it may be any JSON. */
function patternOf(schema: z.core.$ZodType): ValuePattern | null {
  if (schema instanceof z.ZodOptional) return patternOf(schema.unwrap());
  if (schema instanceof z.ZodNullable) {
    const inner = patternOf(schema.unwrap());
    return inner === null ? null : { ...inner, source: `(?:null|${inner.source})` };
  }
  if (schema instanceof z.ZodBoolean) return { source: '(true|false)', holds: 'boolean' };
  return PATTERNS.get(schema) ?? null;
}

/** Returns the source of a pattern for a whole text, to be part of another, without groups of its own. */
function inner(whole: RegExp): string {
  return whole.source.slice(1, -1).replace(/\((?!\?)/g, '(?:');
}
