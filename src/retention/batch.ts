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

/** Deletes some of what is over age, and never waits for a lock. */
export type PruneBatch = (trx: DatabaseTransaction, input: BatchInput) => Promise<Batch>;
