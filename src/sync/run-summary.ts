// The report of a run, while it runs and when it has ended.

import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { LoadCounts } from '../mirror/load-batch.ts';
import type { SyncRun } from '../mirror/runs/sync-runs.ts';
import type { DeltaPlan } from './plan-delta.ts';

export type SyncMode = 'full' | 'delta';

/** Reported after every batch that was committed. */
export interface SyncProgress {
  readonly resource: ListedResource;
  readonly requests: number;
  readonly pages: number;
  readonly rows: LoadCounts;
  /** The counts of this batch only. */
  readonly batch: LoadCounts;
  /** Records that exist, by the API's count; null before the first answer. */
  readonly total: number | null;
}

type Replaced = 'resource' | 'state' | 'finished_at' | 'plan' | 'attempt' | 'error';
type NotShown =
  | 'checkpoint'
  | 'heartbeat_at'
  | 'reads_everything'
  | 'failed_at'
  | 'unanswered_since'
  | 'unanswered_attempt';

/**
 * How a run ended: its row of the run log, and more. `succeeded`: read to the end and verified. `partial` (`reason`
 * says why): read to the end, but the counts could not be verified and nothing was marked deleted, or verified, but
 * deletions were held back. `skipped`: another process syncs it (`reason` says which). `failed` and `interrupted`: it
 * stopped short, and the figures say how far it came.
 */
export interface RunSummary extends Omit<SyncRun, Replaced | NotShown> {
  readonly resource: ListedResource;
  readonly state: 'succeeded' | 'partial' | 'skipped' | 'failed' | 'interrupted';
  readonly reason: string | null;
  readonly finished_at: Timestamp;
  /** It was stopped or killed before, and taken up again. */
  readonly is_resumed: boolean;
  /**
   * The plan of a delta of referrals or commissions; null for every other run.
   */
  readonly plan: DeltaPlan | null;
  /** By this process. */
  readonly duration_ms: number;
}
