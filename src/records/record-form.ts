// The form in which a program spells a kind of record: which fields, in which order, with what between their values.
// Made from the bytes of one record and the contract's schemas; others of it are the same bytes but for the values,
// which are found and checked where they are. It accepts a subset of what JSON.parse and the schema accept: a record
// with an escape, an odd number, more or other fields than the one it was made from, other space or another order is
// left to them.

import type { Fields } from '../contract/declare.ts';
import { endOfLiteral, type Member, membersAt, NOWHERE } from '../contract/json-bytes.ts';
import { REFERRAL } from '../contract/referral.ts';
import { toContractSpelling, WIRE_ALIASES } from '../contract/wire-aliases.ts';
import { makeFastCheck } from './fast-check.ts';
import { COLUMN_NAMES } from './mirrored-tables.ts';
import { endOfNull } from './plain-bytes.ts';
import { makePlainRecord, type PlainRecord } from './plain-record.ts';
import type { Placed, RecordKind } from './record-kinds.ts';
import type { CheckedRecord } from './rows-of-record.ts';
import { IS_ELSEWHERE, IS_NULL } from './spans.ts';
import {
  jsonReaderOf,
  type NestedReaders,
  nestedReaderOf,
  plainReaderOf,
  type Reading,
  type ReadValue,
  unknownReaderOf,
} from './value-readers.ts';

export interface RecordForm {
  /** Returns the record that begins at the place, and the place after it; null where it is not of this form. */
  read(bytes: Buffer, at: number): { readonly record: PlainRecord; readonly end: number } | null;
}

interface Step {
  /** What is before the value: the name of its field, and what is between it and the last one. */
  readonly before: Buffer;
  readonly readValue: ReadValue;
}

interface Steps {
  readonly steps: readonly Step[];
  readonly ending: Buffer;
}

/**
 * Returns the form of a record as it came, which begins at the place; null where it lacks a field of the contract, or
 * has one beyond it that is not plain.
 */
export function makeRecordForm(
  kind: RecordKind,
  record: object,
  { bytes, at }: { bytes: Buffer; at: number },
  readers: NestedReaders,
): RecordForm | null {
  const members = membersAt(bytes, at);
  const steps =
    members && stepsOf(bytes, at, members, (name, member) => readerOf(kind, readers, name, member, bytes));
  const names = new Set(members?.map(({ name }) => spelled(name)));
  const isWhole = Object.entries(kind.schema.shape).every(
    ([name, schema]) => names.has(name) || makeFastCheck(schema)(undefined),
  );
  // Of two spellings of a field, one is the contract's, and the other an unknown field.
  if (members === null || steps === null || !isWhole || names.size < members.length) return null;
  const sample = toContractSpelling(record) as CheckedRecord;
  const columns = COLUMN_NAMES[kind.table].length;
  const noBounds: readonly number[] = new Array(columns * 2).fill(IS_ELSEWHERE);
  const noValues: readonly unknown[] = new Array(columns).fill(undefined);
  const noNested: readonly unknown[] = new Array(kind.nested.length).fill(undefined);
  return {
    read(page, start) {
      const reading: Reading = {
        bounds: noBounds.slice(),
        values: noValues.slice(),
        nested: noNested.slice(),
        unknown: [],
      };
      const end = readSteps(steps, reading, page, start);
      if (end === NOWHERE) return null;
      const { bounds, values, nested, unknown } = reading;
      // The identifier is every table's first column.
      const id = page.toString('latin1', bounds[0], bounds[1]);
      const extra = unknown.length === 0 ? null : Object.fromEntries(unknown);
      const spans = { bytes: page, bounds };
      return { record: makePlainRecord({ id, spans, values, extra, nested, sample }, start), end };
    },
  };
}

function readSteps({ steps, ending }: Steps, into: Reading, bytes: Buffer, start: number): number {
  let at = start;
  for (const { before, readValue } of steps) {
    at = endOfLiteral(bytes, at, before);
    if (at === NOWHERE) return NOWHERE;
    at = readValue(into, bytes, at);
    if (at === NOWHERE) return NOWHERE;
  }
  return endOfLiteral(bytes, at, ending);
}

/** Returns the steps that read an object of these members; null where one of them has no reader. */
function stepsOf(
  bytes: Buffer,
  start: number,
  members: readonly Member[],
  makeReader: (name: string, member: Member) => ReadValue | null,
): Steps | null {
  const steps: Step[] = [];
  let at = start;
  for (const member of members) {
    const readValue = makeReader(spelled(member.name), member);
    if (readValue === null) return null;
    steps.push({ before: Buffer.from(bytes.subarray(at, member.start)), readValue });
    at = member.end;
  }
  const end = bytes.indexOf('}', at) + 1;
  return { steps, ending: Buffer.from(bytes.subarray(at, end)) };
}

function spelled(name: string): string {
  return WIRE_ALIASES.get(name) ?? name;
}

function readerOf(
  kind: RecordKind,
  readers: NestedReaders,
  name: string,
  member: Member,
  bytes: Buffer,
): ReadValue | null {
  if (kind.nestedFields.includes(name)) return nestedReaderOf(kind, name, readers);
  if (name === 'customer' && kind.customer.length > 0) return customerReaderOf(kind.customer, member, bytes);
  if (!kind.ownFields.has(name)) return unknownReaderOf(name);
  const column = kind.placed.find(({ field }) => field === name);
  const schema = kind.schema.shape[name];
  if (column === undefined || schema === undefined) return null;
  return plainReaderOf(schema, column.place) ?? jsonReaderOf(schema, column.place);
}

/** Returns what reads a customer with the fields of the sample's, or none; null where those are not the contract's. */
function customerReaderOf(columns: readonly Placed[], { start }: Member, bytes: Buffer): ReadValue | null {
  const readNull: ReadValue = ({ bounds }, page, at) => {
    for (const { place } of columns) bounds[place * 2] = IS_NULL;
    return endOfNull(page, at);
  };
  if (endOfNull(bytes, start) !== NOWHERE) return readNull;
  const members = membersAt(bytes, start);
  const isWhole = columns.every(({ field }) => members?.some(({ name }) => name === field));
  if (members === null || !isWhole || members.length !== columns.length) return null;
  const steps = stepsOf(bytes, start, members, (name) => {
    const column = columns.find(({ field }) => field === name);
    const field = (REFERRAL.fields.customer.fields as Fields)[name];
    return column === undefined || field === undefined ? null : plainReaderOf(field.schema, column.place);
  });
  if (steps === null) return null;
  return (into, page, at) =>
    endOfNull(page, at) === NOWHERE ? readSteps(steps, into, page, at) : readNull(into, page, at);
}
