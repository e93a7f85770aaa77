// The types of a run while it reads.

import type { ApiClient } from '../api/client.ts';
import type { Logger } from '../base/log.ts';
import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { Decoding } from '../decode/decode-page.ts';
import type { Treatment } from '../decode/treatment.ts';
import type { SyncRun } from '../mirror/runs/sync-runs.ts';
import type { RunLoader } from './run-loader.ts';

export interface SyncDeps {
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  /** How personal data are stored; without, everything as it comes. */
  readonly treatment?: Treatment;
}

/** An open run. */
export interface OpenRun extends SyncDeps {
  readonly run: SyncRun;
  readonly resource: ListedResource;
  readonly decoding: Decoding;
  readonly loader: RunLoader;
  /** Records per page to ask for. */
  readonly limit: number;
  readonly acceptDeletes: boolean;
  /** Why the run cannot be verified, however well the walk ends; null as a rule. */
  readonly doubt: string | null;
  readonly signal: AbortSignal | undefined;
}

/** Rows that the affiliate program no longer has; they are marked deleted when the run ends. */
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

/** The rows that the run did not meet. No row is in both. */
export interface SettledMissing {
  readonly gone: Gone | null;
  readonly heldBack: HeldBack | null;
  /** Whether every row was looked for. If so, deletions that an earlier run held back are settled too. */
  readonly isWhole: boolean;
}

export interface ReadOutcome {
  /** Why the run is not verified, to be read after "unverified because"; null if it is. */
  readonly doubt: string | null;
  /** Null if no row is known to be gone or held back: the run is not verified, or did not read everything. */
  readonly missing: SettledMissing | null;
}
