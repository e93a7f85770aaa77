// Notices where records differ from the contract: new fields, fields that no record has, values of another type.
// Keeps counts per field in bounded memory; rejects nothing.

import type { z } from 'zod';
import { jsonType, valueAt } from './rejection-reason.ts';

/** A program that sends data as field names must not fill the memory. */
const FIELDS_KEPT = 200;
const FIELD_NAME_CHARACTERS = 200;

export type DriftKind = 'appeared' | 'vanished' | 'retyped';

export interface Drift {
  readonly field: string;
  readonly kind: DriftKind;
  /** The JSON type that was found; null where the field vanished. */
  readonly found: string | null;
  /** How often records had it, those that were read again too; for a vanished field, how often they should have. */
  readonly occurrences: number;
}

export interface DriftWatch {
  /** Notes which promised fields a record has. `prefix` is `affiliate.` and the like for a nested record. */
  noteRecord(promised: readonly string[], record: object, prefix: string): void;
  noteUnknownFields(extra: Readonly<Record<string, unknown>>, prefix: string): void;
  noteRetyped(field: string, value: unknown): void;
  noteIssues(issues: readonly z.core.$ZodIssue[], record: unknown, prefix: string): void;
  /** Returns all that was noticed so far. */
  findings(): readonly Drift[];
}

/** Returns a watch for one run. */
export function makeDriftWatch(): DriftWatch {
  const noticed = new Map<string, { field: string; kind: DriftKind; found: string; occurrences: number }>();
  // Promised fields that no record has had yet, by prefix: soon empty, so that watching costs nothing.
  const absent = new Map<string, Set<string>>();
  const records = new Map<string, number>();

  function notice(field: string, kind: DriftKind, value: unknown): void {
    // Field names come from outside: what Postgres cannot hold is escaped.
    const name = JSON.stringify(field).slice(1, -1).slice(0, FIELD_NAME_CHARACTERS).toWellFormed();
    const key = `${kind} ${name}`;
    const entry = noticed.get(key);
    if (entry !== undefined) entry.occurrences += 1;
    else if (noticed.size < FIELDS_KEPT) {
      noticed.set(key, { field: name, kind, found: jsonType(value), occurrences: 1 });
    }
  }

  return {
    noteRecord(promised, record, prefix) {
      let missing = absent.get(prefix);
      if (missing === undefined) {
        missing = new Set(promised);
        absent.set(prefix, missing);
      }
      if (missing.size === 0) return;
      records.set(prefix, (records.get(prefix) ?? 0) + 1);
      for (const field of missing) if (field in record) missing.delete(field);
    },
    noteUnknownFields(extra, prefix) {
      for (const [field, value] of Object.entries(extra)) {
        if (field === 'customer' && value !== null && typeof value === 'object') {
          // The customer is no record of its own: what is unknown in it is noted under its name.
          for (const [inner, found] of Object.entries(value)) {
            notice(`${prefix}customer.${inner}`, 'appeared', found);
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
      const vanished = [...absent].flatMap(([prefix, fields]) =>
        [...fields].map((field) => ({
          field: `${prefix}${field}`,
          kind: 'vanished' as const,
          found: null,
          occurrences: records.get(prefix) ?? 0,
        })),
      );
      return [...noticed.values(), ...vanished];
    },
  };
}
