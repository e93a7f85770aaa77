// Checks one record as it came and returns the rows that it and its nested records make, or why it is refused.
// A record is refused as a whole: half of one is never stored. Of a commission, what is nested in it may be refused
// apart: a payment that was made must be seen, whatever came with it.

import { z } from 'zod';
import { isExactNumber } from '../contract/exact-number.ts';
import type { DriftWatch } from './drift-watch.ts';
import type { LoadedCache } from './loaded-cache.ts';
import type { MirroredTable } from './mirrored-tables.ts';
import { recordOf } from './nested-bytes.ts';
import { isPlainRecord, type PlainRecord } from './plain-record.ts';
import { CUSTOMER_FIELDS, type Nesting, RECORD_KINDS, type RecordKind } from './record-kinds.ts';
import { describeIssues, jsonType } from './rejection-reason.ts';
import { type CheckedRecord, type MirrorRow, toRow } from './rows-of-record.ts';
import type { Treatment } from './treatment.ts';
import { findUnstorable } from './unstorable.ts';

export type ParsedRecord =
  | { readonly id: string; readonly rows: readonly MirrorRow[] }
  | { readonly id: string | null; readonly reason: string };

export interface ReadDeps {
  /** Nested records that are in it make no row; null to make a row of each. */
  readonly cache: LoadedCache | null;
  readonly drift: DriftWatch | null;
  /** What is stored of people; without, all as it came. */
  readonly treatment?: Treatment | undefined;
}

/** A nested record that was refused by itself. */
export interface RefusedApart {
  readonly table: MirroredTable;
  readonly id: string | null;
  readonly reason: string;
  readonly record: unknown;
}

/**
 * Returns the rows of a record, parsed or plain, its own first, or the reason why it cannot be stored, with its
 * identifier where that one can be used.
 * With `apart`, nested records that cannot be stored are added to it, and the rest is read on; without, the record is
 * refused because of them.
 */
export function readRecord(
  deps: ReadDeps,
  table: MirroredTable,
  record: unknown,
  observedAtMicros: number,
  apart: RefusedApart[] | null = null,
): ParsedRecord {
  const reading: Reading = { deps, observedAtMicros, rows: [], met: [], apart };
  const reason = isPlainRecord(record)
    ? readPlain(reading, RECORD_KINDS[table], record)
    : readInto(reading, RECORD_KINDS[table], record, '', null);
  if (reason !== null) return { id: usableId(record), reason };
  // Into the cache once the record is accepted as a whole.
  for (const { table: of, id, entry } of reading.met) deps.cache?.note(of, id, entry);
  return { id: (record as CheckedRecord).id, rows: reading.rows };
}

interface Reading {
  readonly deps: ReadDeps;
  readonly observedAtMicros: number;
  readonly rows: MirrorRow[];
  readonly met: Met[];
  readonly apart: RefusedApart[] | null;
}

interface Met {
  readonly table: MirroredTable;
  readonly id: string;
  readonly entry: Parameters<LoadedCache['note']>[2];
}

/** As readInto, for a record that its form has checked. */
function readPlain(reading: Reading, kind: RecordKind, record: PlainRecord): string | null {
  const { deps, observedAtMicros } = reading;
  const { id, spans, values, extra, nested, sample } = record;
  if (deps.drift !== null) noteFields(deps.drift, kind, sample, '');
  if (extra !== null) deps.drift?.noteUnknownFields(extra, '');
  const row = { table: kind.table, id, spans, values, extra, observedAtMicros };
  reading.rows.push(row);
  // By index: entries() makes objects for each record.
  for (let index = 0; index < kind.nested.length; index += 1) {
    const nesting = kind.nested[index] as Nesting;
    const reason = readNested(reading, { kind, row, nesting, prefix: '' }, nested[index]);
    if (reason !== null) return reason;
  }
  return null;
}

/** Adds the rows of a record to the reading; returns why it cannot, or null. */
function readInto(
  reading: Reading,
  kind: RecordKind,
  record: unknown,
  prefix: string,
  owner: string | null,
): string | null {
  const { deps, observedAtMicros } = reading;
  const isPlain = kind.isPlain(record);
  if (!isPlain) {
    const checked = kind.schema.safeParse(withoutExactNumbers(record, kind.ownFields));
    if (!checked.success) {
      deps.drift?.noteIssues(checked.error.issues, record, prefix);
      return describeIssues(checked.error.issues, record, prefix);
    }
  }
  // No schema changes a value, so the record itself is read on: what came is what is stored.
  const fields = record as CheckedRecord;
  const row = toRow(kind, fields, observedAtMicros);
  if (!isPlain || row.extra !== null) {
    const unstorable = findUnstorable(fields, { except: kind.nestedFields, known: kind.ownFields });
    if (unstorable !== null) return `${prefix}${outermost(unstorable.path)}: ${unstorable.problem}`;
  }
  if (deps.drift !== null) noteFields(deps.drift, kind, fields, prefix);
  if (row.extra !== null) deps.drift?.noteUnknownFields(row.extra, prefix);
  // A link's owner is known from the place of the link.
  if (owner !== null && kind.ownerPlace >= 0) row.values[kind.ownerPlace] = owner;
  reading.rows.push(row);
  for (const nesting of kind.nested) {
    const reason = readNested(reading, { kind, row, nesting, prefix }, fields[nesting.field]);
    if (reason !== null) return reason;
  }
  return null;
}

// An inner field of what the contract does not know may be named after a person.
function outermost(path: string): string {
  return path.split('.')[0] ?? '';
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

function noteFields(drift: DriftWatch, kind: RecordKind, fields: CheckedRecord, prefix: string): void {
  drift.noteRecord(kind.promised, fields, prefix);
  const customer = kind.customer.length > 0 ? fields['customer'] : null;
  if (customer !== null && typeof customer === 'object') {
    drift.noteRecord(CUSTOMER_FIELDS, customer, `${prefix}customer.`);
  }
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
      reading.deps.drift?.noteRetyped(path, value);
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
  // The identifier may be all that can be known of it; without one, the column is left alone.
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
  apart?.push({ table, id: usableId(record), reason, record: recordOf(record) });
  return apart !== null;
}

function readOne(reading: Reading, { kind, row, nesting, prefix }: Place, record: unknown): string | null {
  const { table } = nesting;
  const { cache } = reading.deps;
  const owner = table === 'links' ? ownerOfLink(kind, row) : null;
  const id = cache === null ? null : idOf(record);
  const known =
    cache === null || id === null
      ? 'unknown'
      : cache.meet(table, id, record as object, owner, reading.observedAtMicros);
  if (known === 'same') return null;

  const [rowsBefore, metBefore] = [reading.rows.length, reading.met.length];
  const path = `${prefix}${nesting.field}.`;
  const reason = readInto(reading, RECORD_KINDS[table], recordOf(record), path, owner);
  if (reason !== null || known === 'superseded') {
    // Nothing is left of what was read of it, nor of what is nested in it: that is not loaded either.
    reading.rows.length = rowsBefore;
    reading.met.length = metBefore;
  } else if (id !== null) {
    const entry = { record: record as object, owner, observedAtMicros: reading.observedAtMicros };
    reading.met.push({ table, id, entry });
  }
  return reason;
}

// The affiliate whose record the link is in, or of the referral that came through it; a referral's nested affiliate is
// read before its link.
function ownerOfLink(kind: RecordKind, row: MirrorRow): string | null {
  if (row.table === 'affiliates') return row.id;
  const affiliate = row.values[kind.ownerPlace];
  return typeof affiliate === 'string' ? affiliate : null;
}

/** Returns the record's identifier; null where it has none that can be used, however broken the record is. */
export function usableId(record: unknown): string | null {
  if (isPlainRecord(record)) return record.id;
  const id = idOf(record);
  return id !== null && z.regexes.guid.test(id) ? id : null;
}

function idOf(record: unknown): string | null {
  if (record === null || typeof record !== 'object' || !('id' in record)) return null;
  return typeof record.id === 'string' ? record.id : null;
}
