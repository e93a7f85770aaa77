// Lets a run's walk begin anew: what it has seen and its checkpoint are deleted, its figures stay.

import type { Database } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { forgetSeenRows } from './seen-rows.ts';
import type { SyncRun } from './sync-runs.ts';

/** Returns the run as it is then. Idempotent: yes. */
export async function restartWalk(db: Database, runId: number): Promise<SyncRun> {
  return transact(db, async (trx) => {
    await forgetSeenRows(trx, runId);
    return trx
      .updateTable('sync_runs')
      .set({ checkpoint: null, distinct_seen: 0 })
      .where('id', '=', runId)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}
