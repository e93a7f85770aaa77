// Remembers which nested records a run has already loaded, so that the affiliate who stands in a thousand referrals
// is checked and loaded once. Knows nothing of tables and statements.
//
// What it must not do is hide a change. It learns only what was committed; it holds the newest observation, and a
// nested record that is older than what it holds and differs is superseded, whatever the order of pages.

import { isDeepStrictEqual } from 'node:util';
import type { MirroredTable } from './mirrored-tables.ts';

/** Of each table; about 1.5 KB each. Bounded, so that memory does not grow with the program. */
const ENTRIES_KEPT = 10_000;

interface Entry {
  readonly record: object;
  /** The affiliate that the record belongs to by where it stood, which its row holds too. */
  readonly owner: string | null;
  observedAtMicros: number;
}

export interface LoadedCache {
  /** Gives back a view for one batch; what it noted counts for later batches once `learn` was called. */
  openBatch(): CacheBatch;
}

export interface CacheBatch {
  /** What the run knows of the record: the same content, which it then need not load, something newer, or neither. */
  compare(table: MirroredTable, id: string, entry: Entry): 'same' | 'superseded' | 'unknown';
  /** Notes what is loaded. */
  note(table: MirroredTable, id: string, entry: Entry): void;
  /** Notes that what is held was observed with the same content. Cheap: nearly every nested record is one of these. */
  confirm(table: MirroredTable, id: string, observedAtMicros: number): void;
  /** Call after the commit, and only then. */
  learn(): void;
}

type Entries = Map<string, Entry>;

/** Gives back an empty memory for one run. */
export function makeLoadedCache(): LoadedCache {
  const committed = new Map<MirroredTable, Entries>();
  return {
    openBatch() {
      const noted = new Map<MirroredTable, Entries>();
      const find = (table: MirroredTable, id: string) =>
        noted.get(table)?.get(id) ?? committed.get(table)?.get(id);
      return {
        compare(table, id, entry) {
          const held = find(table, id);
          if (held === undefined) return 'unknown';
          if (held.owner === entry.owner && isSame(held.record, entry.record)) return 'same';
          return entry.observedAtMicros < held.observedAtMicros ? 'superseded' : 'unknown';
        },
        note(table, id, entry) {
          const held = noted.get(table)?.get(id);
          if (held !== undefined && entry.observedAtMicros < held.observedAtMicros) return;
          entriesOf(noted, table).set(id, entry);
        },
        confirm(table, id, observedAtMicros) {
          // True also where this batch is never committed: an earlier one has loaded what is held.
          const held = find(table, id);
          if (held !== undefined) held.observedAtMicros = Math.max(held.observedAtMicros, observedAtMicros);
        },
        learn() {
          for (const [table, entries] of noted) remember(entriesOf(committed, table), entries);
        },
      };
    },
  };
}

function entriesOf(tables: Map<MirroredTable, Entries>, table: MirroredTable): Entries {
  let entries = tables.get(table);
  if (entries === undefined) {
    entries = new Map();
    tables.set(table, entries);
  }
  return entries;
}

// Set again, an entry moves to the end: the one that was loaded longest ago is forgotten first.
function remember(kept: Entries, entries: Entries): void {
  for (const [id, entry] of entries) {
    kept.delete(id);
    kept.set(id, entry);
  }
  for (const id of kept.keys()) {
    if (kept.size <= ENTRIES_KEPT) break;
    kept.delete(id);
  }
}

// JSON values only. Most fields are plain values, which are compared first, without a call of isDeepStrictEqual. A name such as __proto__ may be inherited on the right, but only as an object.
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false;
  if (Array.isArray(left) || Array.isArray(right)) return isDeepStrictEqual(left, right);
  let surplus = 0;
  for (const key in left) {
    surplus += 1;
    const [one, other] = [left[key as keyof typeof left], right[key as keyof typeof right]] as unknown[];
    if (one !== other && !(Object.hasOwn(right, key) && isSame(one, other))) return false;
  }
  for (const _ in right) surplus -= 1;
  return surplus === 0;
}
