// The input and the result that the walks of a run share.

import type { ApiClient } from '../api/client.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { SyncRun } from '../mirror/runs/sync-runs.ts';

export interface SyncDeps {
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
}

export interface WalkInput {
  readonly run: SyncRun;
  /** Records per page to ask for. */
  readonly limit: number;
  readonly concurrency: number;
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

export interface Walked {
  /** Why the run is not verified, to be read after "unverified because"; null where it is. */
  readonly doubt: string | null;
  readonly gone: Gone | null;
  /** How many rows look deleted and are not marked so. */
  readonly heldBack: number;
}

/** Returns the result of a walk that proves nothing: then nothing is known to be gone. */
export function unverified(doubt: string): Walked {
  return { doubt, gone: null, heldBack: 0 };
}
