// Puts a sync together: the client, the shared budget, the database.

import type { BudgetWait } from '../../budget/waits.ts';
import type { ProgramAddress } from '../../config/config.ts';
import type { RateLimit } from '../../config/rate-limit.ts';
import type { ListedResource } from '../../contract/resources.ts';
import type { Database } from '../../db/database.ts';
import type { Logger } from '../../log.ts';
import type { Treatment } from '../../records/treatment.ts';
import type { RunSummary, SyncProgress } from '../../sync/run-summary.ts';
import { runSync, type SyncInput } from '../../sync/run-sync.ts';
import type { Lifetime } from '../lifetime.ts';
import { makeProgramClient } from '../program-client.ts';

export interface MakeSyncDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly lifetime: Lifetime;
  readonly treatment: Treatment;
  readonly onProgress: (progress: SyncProgress) => void;
  /** See BudgetDeps. */
  readonly onWait?: (wait: BudgetWait) => void;
  /** Told how far a run came that stops short, before its error is thrown. */
  readonly onStopped?: (run: RunSummary) => void;
}

export interface SyncProgram extends ProgramAddress {
  readonly timeoutMs: number;
  readonly rateLimit: RateLimit;
}

/** Returns the function that syncs one resource. The client is closed with the lifetime. */
export function makeSync(
  { onProgress, onStopped = () => {}, ...deps }: MakeSyncDeps,
  program: SyncProgram,
): (
  resource: ListedResource,
  how: Pick<SyncInput, 'mode' | 'acceptDeletes' | 'acceptProgram'>,
) => Promise<RunSummary> {
  const api = makeProgramClient(deps, { ...program, priority: 'reads' });
  return (resource, how) =>
    runSync(
      { api, db: deps.db, log: deps.log, treatment: deps.treatment, onProgress, onStopped },
      { resource, ...how, signal: deps.lifetime.signal },
    );
}
