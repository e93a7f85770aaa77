// What the walks of a run share: what they are given and what they give back.

import type { ApiClient } from '../api/client.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { SyncRun } from '../mirror/sync-runs.ts';

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
  readonly signal: AbortSignal | undefined;
}

export interface Walked {
  readonly verified: boolean;
  readonly deleted: number;
  readonly heldBack: number;
}
