// A read-only transaction that sees the database as it was at one moment, for reading more than fits into memory.

import type { Pool, PoolClient } from 'pg';
import { errorCode } from '../describe-error.ts';
import { withClientUntil } from './client-until.ts';

export interface SnapshotOptions {
  readonly signal: AbortSignal;
  /**
   * Longest pause between two statements: what was read has to be stored elsewhere first, perhaps with retries. A
   * process that is stopped in the middle keeps vacuum from cleaning up for no longer than this.
   */
  readonly longestPauseMs: number;
}

/** Thrown where nothing was read for longer than the longest pause: Postgres has ended the transaction. */
export class PausedTooLong extends Error {}

/** SQLSTATE of a transaction that was idle for too long. */
const IDLE_IN_TRANSACTION = '25P03';

/**
 * Returns what `work` returns. Every statement that it sends with the client sees the same moment and can change
 * nothing. Aborted, the statement that is under way fails, and `work` is waited for: it may have to clean up.
 *
 * Throws: what `work` throws; PausedTooLong; the database's errors; the signal's reason when aborted.
 */
export async function withSnapshot<T>(
  pool: Pool,
  { signal, longestPauseMs }: SnapshotOptions,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return withClientUntil(pool, signal, async (client) => {
    // Said while no statement waits for an answer; the next one only hears that the connection is gone.
    let hasEnded = false;
    const note = (error: Error) => {
      hasEnded ||= isOfPause(error);
    };
    client.on('error', note);
    try {
      await client.query(`
        begin isolation level repeatable read read only;
        set local idle_in_transaction_session_timeout = ${Math.ceil(longestPauseMs)};
        -- A cursor is read to its end: plan for that, not for its first rows.
        set local cursor_tuple_fraction = 1`);
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      if (!hasEnded && !isOfPause(error)) throw error;
      throw new PausedTooLong('nothing was read for too long', { cause: error });
    } finally {
      client.off('error', note);
    }
  });
}

function isOfPause(error: unknown): boolean {
  return errorCode(error) === IDLE_IN_TRANSACTION;
}
