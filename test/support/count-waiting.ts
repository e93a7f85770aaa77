import type { Pool } from '../../src/db/connect/shared-pool.ts';

/** Returns how many sessions of the database wait for a lock of any kind; those of other test files do not count. */
export async function countWaiting(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
}
