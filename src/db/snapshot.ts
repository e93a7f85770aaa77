// A read-only transaction that sees the database as it was at one moment, for reading more than fits into memory.

import type { Pool, PoolClient } from 'pg';
import { withClientUntil } from './client-until.ts';

/**
 * Longest pause between two reads: what was read has to be stored elsewhere first, perhaps with retries. A process that
 * is stopped in the middle keeps vacuum from cleaning up for no longer than this.
 */
const LONGEST_PAUSE = '5min';
const SET_UP = `
  begin isolation level repeatable read read only;
  set local idle_in_transaction_session_timeout = '${LONGEST_PAUSE}';
  -- A cursor is read to its end: plan for that, not for its first rows.
  set local cursor_tuple_fraction = 1`;

/**
 * Returns what `work` returns. Every statement that it sends with the client sees the same moment and can change
 * nothing. Aborted, the statement that is under way fails, and `work` is waited for: it may have to clean up.
 *
 * Throws: what `work` throws; the database's errors; the signal's reason when aborted.
 */
export async function withSnapshot<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withClientUntil(pool, signal, async (client) => {
    await client.query(SET_UP);
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}
