// A read-only transaction that sees one moment of the database, to read more than fits into memory.

import type { PoolClient } from 'pg';
import { withClientUntil } from '../db/connect/client-until.ts';
import type { Pool } from '../db/connect/shared-pool.ts';

/**
 * The longest pause between two statements, in which rows are stored elsewhere. Postgres ends the transaction then, so
 * that a stopped process keeps vacuum from cleaning up for no longer. Longer than the slowest part of a successful
 * upload, with its five tries of two minutes each (targets/s3-call.ts).
 */
const LONGEST_PAUSE = '15min';

/**
 * Runs `work` with a client whose statements all see the same moment and can change nothing, and returns its result. On
 * abort the running statement fails, and `work` may still clean up.
 *
 * Throws: the errors of `work`; the database's errors; the signal's reason when aborted.
 */
export async function withSnapshot<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withClientUntil(pool, signal, async (client) => {
    await client.query(`
      begin isolation level repeatable read read only;
      set local idle_in_transaction_session_timeout = '${LONGEST_PAUSE}';
      -- A cursor is read to its end: plan for that, not for its first rows.
      set local cursor_tuple_fraction = 1`);
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}
