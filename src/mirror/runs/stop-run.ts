// Notes in the run log that a run stopped before its end, and leaves everything in place for it to be resumed.

import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { isStillOwn, type OwnRun } from './own-run.ts';
import type { SyncRun } from './sync-runs.ts';

export interface RunStop {
  /** `interrupted`: somebody asked it to stop. `failed`: an error ended it. */
  readonly state: 'interrupted' | 'failed';
  readonly code: string | null;
  readonly message: string;
  /** Requests that were sent since the last batch was committed. */
  readonly requests: number;
}

/**
 * Stops the run, and returns it as it stopped; its checkpoint and what it has seen stay. Does nothing, and returns
 * null, where another process has taken the run over.
 */
export async function stopRun(db: Database, run: OwnRun, stop: RunStop): Promise<SyncRun | null> {
  const stopped = await db
    .updateTable('sync_runs')
    .set({
      state: stop.state,
      requests: sql<number>`requests + ${stop.requests}`,
      error_code: stop.code,
      error: stop.message,
      finished_at: sql<string>`clock_timestamp()`,
    })
    .where(isStillOwn(run))
    .returningAll()
    .executeTakeFirst();
  return stopped ?? null;
}

/** Notes that a run was not begun, since another process runs it; returns its row in the run log. */
export async function recordSkippedRun(
  db: Database,
  { resource, mode, reason }: { resource: string; mode: SyncRun['mode']; reason: string },
): Promise<SyncRun> {
  return db
    .insertInto('sync_runs')
    .values({ resource, mode, state: 'skipped', error: reason, finished_at: sql<string>`clock_timestamp()` })
    .returningAll()
    .executeTakeFirstOrThrow();
}
