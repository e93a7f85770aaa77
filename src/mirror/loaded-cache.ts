// Remembers which nested records a run has already loaded, so that the affiliate who stands in a thousand referrals
// is checked and loaded once. Knows nothing of tables and statements.
//
// What it must not do is hide a change. It learns only what was committed; it holds the newest observation, and a
// nested record that is older than what it holds and differs is superseded, whatever the order of pages.

import { isDeepStrictEqual } from 'node:util';

/** About 1.5 KB each: bounded, so that memory does not grow with the program. The oldest entry goes first. */
const ENTRIES_KEPT = 10_000;

interface Entry {
  readonly record: unknown;
  /** The affiliate that the record belongs to by where it stood, which its row holds too. */
  readonly owner: string | null;
  readonly observedAtMicros: number;
}

export interface LoadedCache {
  /** Gives back a view for one batch; what it noted counts for later batches once `learn` was called. */
  openBatch(): CacheBatch;
}

export interface CacheBatch {
  /** What the run knows of the record: the same content, something newer, or neither. */
  compare(key: string, entry: Entry): 'same' | 'superseded' | 'unknown';
  note(key: string, entry: Entry): void;
  /** Call after the commit, and only then. */
  learn(): void;
}

/** Gives back an empty memory for one run. */
export function makeLoadedCache(): LoadedCache {
  const committed = new Map<string, Entry>();
  return {
    openBatch() {
      const noted = new Map<string, Entry>();
      return {
        compare(key, entry) {
          const held = noted.get(key) ?? committed.get(key);
          if (held === undefined) return 'unknown';
          if (held.owner === entry.owner && isSame(held.record, entry.record)) return 'same';
          return entry.observedAtMicros < held.observedAtMicros ? 'superseded' : 'unknown';
        },
        note(key, entry) {
          const held = noted.get(key) ?? committed.get(key);
          if (held === undefined || entry.observedAtMicros >= held.observedAtMicros) noted.set(key, entry);
        },
        learn() {
          for (const [key, entry] of noted) {
            committed.delete(key);
            committed.set(key, entry);
          }
          for (const key of committed.keys()) {
            if (committed.size <= ENTRIES_KEPT) break;
            committed.delete(key);
          }
        },
      };
    },
  };
}

// Most fields are plain values, and comparing those first is an order of magnitude faster than isDeepStrictEqual.
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false;
  if (Array.isArray(left) || Array.isArray(right)) return isDeepStrictEqual(left, right);
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) => Object.hasOwn(right, key) && isSame(Reflect.get(left, key), Reflect.get(right, key)),
  );
}
