// Remembers which nested records a run has already read, so that an affiliate who is in a thousand referrals is
// checked and loaded once: it is spelled alike each time, and so is recognised by its bytes, without being read.
//
// It must not hide a change. Its records were read by this attempt of the run, whose pages are loaded in the order in
// which they were read: one is in flight at a time, and if a load fails, the attempt ends, and the next one begins with
// an empty cache. It holds the newest observation, and supersedes an older nested record that differs. A record that
// was parsed is noted without bytes, and so is read again the next time.

import type { MirroredTable } from '../mirrored-tables.ts';
import { ID_LENGTH } from './plain-values.ts';

/** Records of each table, about 1 KB each. Bounded, so that memory does not grow with the list. */
const MOST_KEPT = 10_000;

/** A sale is in one or two commissions: to remember it would cost more than it saves. */
const OFTEN_NESTED: readonly MirroredTable[] = ['campaigns', 'affiliates', 'links'];

export interface NestedRecord {
  readonly id: string;
  /** Empty if it was parsed. */
  readonly bytes: Buffer;
  /** The affiliate that the record belongs to by its place, which its row holds too. */
  readonly owner: string | null;
  observedAtMicros: number;
}

export interface NestedCache {
  /** Returns the last reading of the record with the key, or of another one with the same. */
  find(table: MirroredTable, key: number): NestedRecord | undefined;
  /** Notes a record that is going to be loaded. Its bytes are copied. */
  note(table: MirroredTable, record: NestedRecord): void;
  /** Forgets everything: the noted records are not going to be loaded. */
  clear(): void;
}

/** Returns an empty cache for one attempt of a run. */
export function makeNestedCache(): NestedCache {
  const tables = new Map(OFTEN_NESTED.map((table) => [table, new Map<number, NestedRecord>()]));
  return {
    find: (table, key) => tables.get(table)?.get(key),
    note(table, record) {
      const records = tables.get(table);
      const key = keyOf(record.id);
      const held = records?.get(key);
      if (records === undefined || (held && record.observedAtMicros < held.observedAtMicros)) return;
      // Set again, a record moves to the end: the one that was set longest ago is forgotten first.
      records.delete(key);
      records.set(key, { ...record, bytes: copy(record.bytes) });
      if (records.size <= MOST_KEPT) return;
      for (const oldest of records.keys()) {
        records.delete(oldest);
        return;
      }
    },
    clear() {
      for (const records of tables.values()) records.clear();
    },
  };
}

/** Returns a number for the identifier at the place; its first and its last digits are enough. */
export function keyAt(bytes: Buffer, at: number): number {
  let key = 0;
  for (let index = 0; index < 8; index += 1) {
    key = Math.imul(key, 31) + (bytes[at + index] ?? 0);
    key = Math.imul(key, 31) + (bytes[at + ID_LENGTH - 1 - index] ?? 0);
  }
  // V8 would make an object of more bits.
  return key & (2 ** 30 - 1);
}

/** Returns the number for an identifier. */
export function keyOf(id: string): number {
  return keyAt(Buffer.from(id, 'latin1'), 0);
}

/**
 * Returns the bytes in memory of their own: a page, or Node's pool of small buffers, would stay in memory with them.
 */
function copy(bytes: Buffer): Buffer {
  const copied = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copied);
  return copied;
}
