// What one batch of pruning is given, and what it did.

import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';

export interface BatchInput {
  /** What is older is over age. */
  readonly cutoff: Timestamp;
  /** How far the batches before this one came; 0 at the beginning. */
  readonly reached: number;
  readonly limit: number;
}

export interface Batch {
  readonly deleted: number;
  /** How far this one came. */
  readonly reached: number;
  /** Whether nothing more is over age. */
  readonly isLast: boolean;
}

/** What the statement of a batch returns, in one row. */
export interface BatchCounts {
  readonly deleted: number;
  readonly looked_at: number;
  /** The last that was looked at; null for none. */
  readonly reached: number | null;
}

/** Returns what the batch did, by the counts of its statement. */
export function endBatch({ reached, limit }: BatchInput, counts: BatchCounts): Batch {
  return {
    deleted: counts.deleted,
    reached: counts.reached ?? reached,
    isLast: counts.looked_at < limit,
  };
}

/** Deletes some of what is over age, and never waits for a lock. */
export type PruneBatch = (trx: DatabaseTransaction, input: BatchInput) => Promise<Batch>;
