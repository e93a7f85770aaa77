// What a run reports while it runs and when it has ended.

import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { LoadCounts } from '../mirror/load-batch.ts';
import type { CommissionsPlan } from './plan-commissions.ts';
import type { ReferralsPlan } from './plan-delta.ts';

export type SyncMode = 'full' | 'delta';

export type DeltaPlan = ReferralsPlan | CommissionsPlan;

/** Reported after every batch that was committed. */
export interface SyncProgress {
  readonly resource: ListedResource;
  readonly requests: number;
  readonly pages: number;
  readonly rows: LoadCounts;
  /** Of this batch alone. */
  readonly batch: LoadCounts;
  /** Records that the program says exist; null before the first answer. */
  readonly total: number | null;
}

/**
 * How a run ended. `succeeded`: read to the end and verified. `partial` (`reason` says why): read to the end, but the
 * counts could not be verified and nothing was marked deleted, or verified, but deletions were held back. `skipped`:
 * another process syncs it (`reason` says which). `failed` and `interrupted`: it stopped short, and the figures say how
 * far it came.
 */
export interface RunSummary {
  readonly runId: number;
  readonly resource: ListedResource;
  readonly mode: SyncMode;
  readonly state: 'succeeded' | 'partial' | 'skipped' | 'failed' | 'interrupted';
  /** Stable code of the error that a run failed with; null for every other run. */
  readonly errorCode: string | null;
  readonly reason: string | null;
  /** When the run began; of one that was taken up again, its first attempt. */
  readonly startedAt: Timestamp;
  readonly finishedAt: Timestamp;
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
  /**
   * What a delta of referrals or commissions set out to do, and what it expected that to cost; null for every other
   * run.
   */
  readonly plan: DeltaPlan | null;
  /** Of this process's part in it. */
  readonly durationMs: number;
}
