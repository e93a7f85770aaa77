// Who may load beside whom. A large load works alone, small ones beside each other.
// Knows the schema's lock, nothing of what is loaded.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';

/**
 * Waits for the right to load until the transaction ends, and tells the history which run is at work.
 *
 * Alone means: no other load or tombstone in this schema, so plain inserts are safe and no two loads can deadlock.
 * An advisory lock, since locking the tables would also stop autovacuum. A row that somebody inserts by hand at
 * the same moment makes the load fail on its key, loudly; tried again, it finds the row.
 */
export async function lockForLoading(
  trx: DatabaseTransaction,
  { isAlone, runId }: { isAlone: boolean; runId: number | null },
): Promise<void> {
  const key = sql`hashtextextended('affiliate-mirror load of ' || current_schema(), 0)`;
  const lock = isAlone ? sql`pg_advisory_xact_lock(${key})` : sql`pg_advisory_xact_lock_shared(${key})`;
  await sql`select set_config('affiliate_mirror.run_id', ${runId === null ? '' : String(runId)}, true), ${lock}`.execute(
    trx,
  );
}
