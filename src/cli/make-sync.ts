// Puts a sync together: the client, the shared budget, the database. Knows what a run is made of, not what it does.

import { makeApiClient } from '../api/client.ts';
import { makeTakePermit } from '../budget/shared-budget.ts';
import type { RateLimit } from '../config/rate-limit.ts';
import type { ListedResource } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { RunSummary, SyncMode, SyncProgress } from '../sync/run-summary.ts';
import { runSync } from '../sync/run-sync.ts';
import type { Lifetime } from './lifetime.ts';

export interface SyncDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly lifetime: Lifetime;
  readonly onProgress: (progress: SyncProgress) => void;
}

export interface SyncProgram {
  readonly url: string;
  readonly secret: string;
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly rateLimit: RateLimit;
}

/** Gives back the function that syncs one resource. The client is closed with the lifetime. */
export function makeSync(
  { db, log, lifetime, onProgress }: SyncDeps,
  { url, secret, timeoutMs, concurrency, rateLimit }: SyncProgram,
): (resource: ListedResource, how: { mode: SyncMode; acceptDeletes: boolean }) => Promise<RunSummary> {
  const takePermit = makeTakePermit(
    { db, log },
    { rateLimit, priority: 'reads', requestTimeoutMs: timeoutMs },
  );
  const api = makeApiClient({ takePermit, log }, { url, secret, timeoutMs });
  lifetime.onClose(() => api.close());
  return (resource, { mode, acceptDeletes }) =>
    runSync(
      { api, db, log, onProgress },
      { resource, mode, concurrency, acceptDeletes, signal: lifetime.signal },
    );
}
