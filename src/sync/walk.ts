// The input and the result that the walks of a run share.

import type { ApiClient } from '../api/client.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { SyncRun } from '../mirror/runs/sync-runs.ts';
import type { Treatment } from '../records/treatment.ts';

export interface SyncDeps {
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  /** How personal data are kept; without, everything is stored as it comes. */
  readonly treatment?: Treatment;
}

export interface WalkInput {
  readonly run: SyncRun;
  /** Records per page to ask for. */
  readonly limit: number;
  readonly acceptDeletes: boolean;
  /** Why the run cannot be verified, however well the walk ends; null as a rule. */
  readonly doubt: string | null;
  readonly signal: AbortSignal | undefined;
}

/** Rows that the program was asked for and does not have; they are marked deleted when the run ends. */
export interface Gone {
  readonly ids: readonly string[];
  /** When the first of the requests that confirmed it was granted its permit. */
  readonly observedAt: Timestamp;
}

/** Rows that look deleted and are not to be marked so. */
export interface HeldBack {
  readonly ids: readonly string[];
  /** Why, and what to do: a sentence. */
  readonly reason: string;
}

/** What became of rows that the run did not meet. No row is in both. */
export interface SettledMissing {
  readonly gone: Gone | null;
  readonly heldBack: HeldBack | null;
  /** Whether every row was looked for. If so, what an earlier run held back is settled too. */
  readonly isWhole: boolean;
}

export interface Walked {
  /** Why the run is not verified, to be read after "unverified because"; null where it is. */
  readonly doubt: string | null;
  /** Null where no row is known to be gone or held back: the run is not verified, or did not read everything. */
  readonly missing: SettledMissing | null;
}

/** Returns the result of a walk that proves nothing: then nothing is known to be gone. */
export function unverified(doubt: string): Walked {
  return { doubt, missing: null };
}
