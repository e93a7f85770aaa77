// The lock of loads, one per schema: a large load runs alone, small ones beside each other.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';

/**
 * Waits for the right to load until the transaction ends, and names the run for the history that it writes.
 *
 * Alone means: nothing else is loaded or marked deleted in this schema, so plain inserts are safe and no two loads can
 * deadlock. A process that was stopped while it holds the lock loses it after seconds. It is an advisory lock, since
 * locking the tables would also stop autovacuum. A row that somebody inserts by hand at the same time makes the load
 * fail on its key; tried again, it finds the row.
 */
export async function lockForLoading(
  trx: DatabaseTransaction,
  { isAlone, runId }: { isAlone: boolean; runId: number | null },
): Promise<void> {
  await sql`
    select set_config('affiliate_mirror.run_id', ${runId === null ? '' : String(runId)}, true),
      lock_for_loading(${isAlone})
  `.execute(trx);
}
