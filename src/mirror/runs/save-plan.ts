// Notes in the run log what a run set out to do.

import type { Database } from '../../db/database.ts';

/** Stores the plan. Idempotent: yes; a later one replaces it. */
export async function savePlan(db: Database, runId: number, plan: object): Promise<void> {
  await db
    .updateTable('sync_runs')
    .set({ plan: JSON.stringify(plan) })
    .where('id', '=', runId)
    .execute();
}
