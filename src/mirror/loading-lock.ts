// Who may load beside whom. A large load works alone, small ones beside each other.
// Knows the schema's lock, nothing of what is loaded.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';

/**
 * Waits for the right to load until the transaction ends, and tells the history which run is at work.
 *
 * Alone means: no other load or tombstone in this schema, so plain inserts are safe and no two loads can deadlock.
 * A process that was stopped while it holds the lock loses it after seconds. An advisory lock, since locking the tables would also stop autovacuum. A row that somebody inserts by hand at
 * the same moment makes the load fail on its key, loudly; tried again, it finds the row.
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
