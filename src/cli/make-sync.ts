// Puts a sync together: the client, the shared budget, the database.

import type { RateLimit } from '../config/rate-limit.ts';
import type { ListedResource } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { RunSummary, SyncMode, SyncProgress } from '../sync/run-summary.ts';
import { runSync } from '../sync/run-sync.ts';
import type { Lifetime } from './lifetime.ts';
import { makeProgramClient } from './program-client.ts';

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

/** Returns the function that syncs one resource. The client is closed with the lifetime. */
export function makeSync(
  { db, log, lifetime, onProgress }: SyncDeps,
  { url, secret, timeoutMs, concurrency, rateLimit }: SyncProgram,
): (resource: ListedResource, how: { mode: SyncMode; acceptDeletes: boolean }) => Promise<RunSummary> {
  const options = { url, secret, timeoutMs, rateLimit, priority: 'reads' } as const;
  const api = makeProgramClient({ db, log, lifetime }, options);
  return (resource, { mode, acceptDeletes }) =>
    runSync(
      { api, db, log, onProgress },
      { resource, mode, concurrency, acceptDeletes, signal: lifetime.signal },
    );
}
