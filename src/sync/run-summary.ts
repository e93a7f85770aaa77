// What a run reports while it runs and when it has ended.

import type { ListedResource } from '../contract/resources.ts';
import type { LoadCounts } from '../mirror/load-batch.ts';
import type { DeltaPlan } from './plan-delta.ts';

export type SyncMode = 'full' | 'delta';

/** Reported after every batch that was committed. */
export interface SyncProgress {
  readonly resource: ListedResource;
  readonly requests: number;
  readonly pages: number;
  readonly rows: LoadCounts;
  /** Records that the program says exist; null before the first answer. */
  readonly total: number | null;
}

/**
 * How a run ended. `succeeded`: read to the end and verified. `partial`: read to the end, but the counts could not be
 * verified (`reason` says why); nothing was marked deleted. `skipped`: another process syncs it (`reason` says which).
 * A run that ends in an error has no summary: the error is thrown, and the run log says `failed` or `interrupted`.
 */
export interface RunSummary {
  readonly runId: number;
  readonly resource: ListedResource;
  readonly mode: SyncMode;
  readonly state: 'succeeded' | 'partial' | 'skipped';
  readonly reason: string | null;
  /** It was stopped or killed before, and taken up again. */
  readonly isResumed: boolean;
  readonly requests: number;
  readonly pages: number;
  readonly rows: LoadCounts;
  readonly deleted: number;
  readonly deletesHeldBack: number;
  readonly total: number | null;
  readonly distinct: number;
  readonly verified: boolean;
  /** What a delta of referrals set out to do, and what it expected that to cost; null for every other run. */
  readonly plan: DeltaPlan | null;
  readonly durationMs: number;
}
