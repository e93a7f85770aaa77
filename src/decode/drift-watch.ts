// Notices how records differ from the contract: new fields, fields that no record has, values of another type.
// Keeps counts per field in bounded memory; rejects nothing.

import type { z } from 'zod';
import { CUSTOMER, type Promised, RECORD_KINDS } from './record-kinds.ts';
import { jsonType, valueAt } from './rejection-reason.ts';
import { getValue, type MirrorRow } from './rows.ts';

/** An API that sends data as field names must not fill the memory. */
const FIELDS_KEPT = 200;
const FIELD_NAME_CHARACTERS = 200;

export type DriftKind = 'appeared' | 'vanished' | 'retyped';

export interface Drift {
  readonly field: string;
  readonly kind: DriftKind;
  /** The JSON type that was found; null if the field vanished. */
  readonly found: string | null;
  /** Records with the field, repeated ones too; for a vanished field, records that should have it. */
  readonly occurrences: number;
}

export interface DriftWatch {
  /** Notes the fields of a record by its row. `prefix` is `affiliate.` and the like for a nested record. */
  noteRow(row: MirrorRow, prefix: string): void;
  noteRetyped(field: string, value: unknown): void;
  noteIssues(issues: readonly z.core.$ZodIssue[], record: unknown, prefix: string): void;
  findings(): readonly Drift[];
}

/** Returns a watch for one run. */
export function makeDriftWatch(): DriftWatch {
  const noticed = new Map<string, { field: string; kind: DriftKind; found: string; occurrences: number }>();
  // Promised fields that no record has had yet, by prefix: soon empty, so that watching costs nothing.
  const absent = new Map<string, Set<Promised>>();
  const records = new Map<string, number>();

  function notice(field: string, kind: DriftKind, value: unknown): void {
    // Field names come from outside: characters that Postgres cannot hold are escaped.
    const name = JSON.stringify(field).slice(1, -1).slice(0, FIELD_NAME_CHARACTERS).toWellFormed();
    const key = `${kind} ${name}`;
    const entry = noticed.get(key);
    if (entry !== undefined) entry.occurrences += 1;
    else if (noticed.size < FIELDS_KEPT) {
      noticed.set(key, { field: name, kind, found: jsonType(value), occurrences: 1 });
    }
  }

  function noteFields(row: MirrorRow, promised: readonly Promised[], prefix: string): void {
    let missing = absent.get(prefix);
    if (missing === undefined) {
      missing = new Set(promised);
      absent.set(prefix, missing);
    }
    if (missing.size === 0) return;
    // A record has its identifier at least; a customer of whom nothing is known is none.
    if (promised.every(({ places }) => places.every((place) => (getValue(row, place) ?? null) === null)))
      return;
    records.set(prefix, (records.get(prefix) ?? 0) + 1);
    for (const one of missing)
      if (one.places.some((place) => getValue(row, place) !== undefined)) missing.delete(one);
  }

  return {
    noteRow(row, prefix) {
      const { promised, promisedOfCustomer } = RECORD_KINDS[row.table];
      noteFields(row, promised, prefix);
      if (promisedOfCustomer.length > 0) noteFields(row, promisedOfCustomer, `${prefix}${CUSTOMER}.`);
      if (row.extra === null) return;
      for (const [field, value] of Object.entries(row.extra)) {
        if (field === CUSTOMER && value !== null && typeof value === 'object') {
          // The customer is no record of its own: its unknown fields are noted under its name.
          for (const [inner, found] of Object.entries(value)) {
            notice(`${prefix}${CUSTOMER}.${inner}`, 'appeared', found);
          }
        } else notice(`${prefix}${field}`, 'appeared', value);
      }
    },
    noteRetyped(field, value) {
      notice(field, 'retyped', value);
    },
    noteIssues(issues, record, prefix) {
      for (const issue of issues) {
        const value = valueAt(record, issue.path);
        const field = issue.path.length === 0 ? prefix.slice(0, -1) : `${prefix}${issue.path.join('.')}`;
        if (value !== undefined) notice(field, 'retyped', value);
      }
    },
    findings() {
      const vanished = [...records].flatMap(([prefix, occurrences]) =>
        [...(absent.get(prefix) ?? [])].map(({ field }) => ({
          field: `${prefix}${field}`,
          kind: 'vanished' as const,
          found: null,
          occurrences,
        })),
      );
      return [...noticed.values(), ...vanished];
    },
  };
}
