// Checks one parsed record, and returns its rows and those of its nested records, or why it is refused: the plain way
// of decoding, and the reference for the fast one (fast/fast-reader.ts). A record is refused as a whole: half of one is
// never stored. Records that are nested in a commission or a payout may be refused apart: a payment that was made must
// be seen, even if the nested records are broken.

import { z } from 'zod';
import { isExactNumber } from '../contract/exact-number.ts';
import type { DriftWatch } from './drift-watch.ts';
import { COLUMN_NAMES, type MirroredTable } from './mirrored-tables.ts';
import {
  CUSTOMER,
  CUSTOMER_FIELDS,
  type Nesting,
  ownerOf,
  type Placed,
  RECORD_KINDS,
  type RecordKind,
} from './record-kinds.ts';
import { describeIssues, jsonType } from './rejection-reason.ts';
import { type MirrorRow, NO_BYTES } from './rows.ts';
import { findUnstorable, MOST_LEVELS } from './unstorable.ts';

export type PlainRecord =
  | { readonly id: string; readonly rows: readonly MirrorRow[] }
  | { readonly id: string | null; readonly reason: string };

/** A nested record that was refused by itself. */
export interface RefusedApart {
  readonly table: MirroredTable;
  readonly id: string | null;
  readonly reason: string;
  readonly record: unknown;
}

interface Reading {
  readonly drift: DriftWatch | null;
  readonly observedAtMicros: number;
  readonly rows: MirrorRow[];
  readonly apart: RefusedApart[] | null;
}

/** A record that was checked: an object with an identifier. */
type CheckedRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * Returns the rows of a record in the contract's spelling, its own first, or the reason why it cannot be stored, with
 * its identifier if that is usable.
 * With `apart`, nested records that cannot be stored are added to it, and the rest is read on; without, the record is
 * refused because of them.
 */
export function readPlain(
  drift: DriftWatch | null,
  table: MirroredTable,
  record: unknown,
  observedAtMicros: number,
  apart: RefusedApart[] | null = null,
): PlainRecord {
  const reading: Reading = { drift, observedAtMicros, rows: [], apart };
  const reason = readInto(reading, RECORD_KINDS[table], record, '', null);
  if (reason !== null) return { id: usableId(record), reason };
  return { id: (record as CheckedRecord).id, rows: reading.rows };
}

/** Adds the rows of a record to the reading; returns why it cannot, or null. */
function readInto(
  reading: Reading,
  kind: RecordKind,
  record: unknown,
  prefix: string,
  owner: string | null,
): string | null {
  const { drift, observedAtMicros } = reading;
  const checked = kind.schema.safeParse(withoutExactNumbers(record, kind.ownFields));
  if (!checked.success) {
    drift?.noteIssues(checked.error.issues, record, prefix);
    return describeIssues(checked.error.issues, record, prefix);
  }
  // No schema changes a value, so the values of the record itself are stored.
  const fields = record as CheckedRecord;
  const unstorable = findUnstorableField(kind, fields);
  if (unstorable !== null) return prefix + unstorable;
  const row = toRow(kind, fields, observedAtMicros);
  drift?.noteRow(row, prefix);
  // Its owner is known from its place.
  if (owner !== null && kind.ownerPlace >= 0) row.values[kind.ownerPlace] = owner;
  reading.rows.push(row);
  for (const nesting of kind.nested) {
    const reason = readNested(reading, { kind, row, nesting, prefix }, fields[nesting.field]);
    if (reason !== null) return reason;
  }
  return null;
}

// Names the outermost field: one within a field that the contract does not know may be named after a person.
function findUnstorableField({ nestedFields, ownFields }: RecordKind, record: CheckedRecord): string | null {
  for (const field in record) {
    if (nestedFields.includes(field)) continue;
    const ofName = ownFields.has(field) ? null : findUnstorable(field);
    const problem = ofName ?? findUnstorable(record[field], MOST_LEVELS - 1);
    if (problem !== null) return `${JSON.stringify(field).slice(1, -1)}: ${problem}`;
  }
  return null;
}

// To a schema an exact number is an object, which a customer may be; no field of the contract holds one.
function withoutExactNumbers(record: unknown, fields: ReadonlySet<string>): unknown {
  if (record === null || typeof record !== 'object') return record;
  let copy: Record<string, unknown> | null = null;
  for (const field in record) {
    if (!fields.has(field) || !isExactNumber(record[field as keyof typeof record])) continue;
    copy ??= { ...record };
    copy[field] = Number.NaN;
  }
  return copy ?? record;
}

/**
 * Returns the row of a record. The identifiers of nested records are not in it yet.
 * A referral's customer becomes the four customer_* columns, all null if there is none.
 */
function toRow(kind: RecordKind, record: CheckedRecord, observedAtMicros: number): MirrorRow {
  const { table } = kind;
  const values: unknown[] = new Array(COLUMN_NAMES[table].length).fill(undefined);
  place(kind.placed, record, values);
  if (record[CUSTOMER] !== undefined) place(kind.customer, record[CUSTOMER] ?? NO_CUSTOMER, values);
  const extra = Object.entries(record).flatMap(([field, value]): [string, unknown][] => {
    if (!kind.ownFields.has(field)) return kind.nestedFields.includes(field) ? [] : [[field, value]];
    const unknown = field === CUSTOMER ? unknownOf(value ?? NO_CUSTOMER) : [];
    return unknown.length === 0 ? [] : [[field, Object.fromEntries(unknown)]];
  });
  return {
    table,
    id: record.id,
    values,
    bytes: NO_BYTES,
    bounds: [],
    extra: extra.length === 0 ? null : Object.fromEntries(extra),
    observedAtMicros,
  };
}

const NO_CUSTOMER: object = Object.fromEntries(CUSTOMER_FIELDS.map((field) => [field, null]));

function place(fields: readonly Placed[], from: object, values: unknown[]): void {
  for (const { field, place } of fields) values[place] = from[field as keyof typeof from];
}

function unknownOf(customer: object): [string, unknown][] {
  return Object.entries(customer).filter(([field]) => !CUSTOMER_FIELDS.includes(field));
}

interface Place {
  readonly kind: RecordKind;
  readonly row: MirrorRow;
  readonly nesting: Nesting;
  readonly prefix: string;
}

function readNested(reading: Reading, place: Place, value: unknown): string | null {
  const { row, nesting, prefix } = place;
  if (value === undefined) return null;
  if (nesting.isList) {
    if (!Array.isArray(value)) {
      const path = `${prefix}${nesting.field}`;
      reading.drift?.noteRetyped(path, value);
      return `${path}: expected array, got ${jsonType(value)}`;
    }
    for (const item of value) {
      const reason = readOne(reading, place, item);
      if (reason !== null && !refuseApart(reading, place, item, reason)) return reason;
    }
    return null;
  }
  if (value === null) {
    row.values[nesting.place] = null;
    return null;
  }
  const reason = readOne(reading, place, value);
  if (reason === null) row.values[nesting.place] = (value as CheckedRecord).id;
  else if (!refuseApart(reading, place, value, reason)) return reason;
  // Only the identifier may be usable; without one, the load does not change the column.
  else row.values[nesting.place] = usableId(value) ?? undefined;
  return null;
}

/** Returns whether the nested record is refused by itself, and notes it then. */
function refuseApart(
  { apart }: Reading,
  { nesting: { table } }: Place,
  record: unknown,
  reason: string,
): boolean {
  apart?.push({ table, id: usableId(record), reason, record });
  return apart !== null;
}

function readOne(reading: Reading, { kind, row, nesting, prefix }: Place, record: unknown): string | null {
  const { table, field } = nesting;
  const owner = ownerOf(nesting, kind, row);
  const rowsBefore = reading.rows.length;
  const reason = readInto(reading, RECORD_KINDS[table], record, `${prefix}${field}.`, owner);
  // Its rows and those of its nested records are not loaded.
  if (reason !== null) reading.rows.length = rowsBefore;
  return reason;
}

/** Returns the record's identifier; null if it has no usable one. The record may be broken. */
export function usableId(record: unknown): string | null {
  if (record === null || typeof record !== 'object' || !('id' in record)) return null;
  return typeof record.id === 'string' && z.regexes.guid.test(record.id) ? record.id : null;
}
