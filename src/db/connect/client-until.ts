// A connection of the pool until a signal aborts.

import type { PoolClient } from 'pg';
import type { Pool } from './shared-pool.ts';

/**
 * Runs `work` with a connection of the pool until the signal aborts, and returns its result. On abort the connection is
 * closed: the running statement fails, the transaction is rolled back, and `work` may still clean up before this
 * throws. If `work` fails, the connection is closed as well: it may be dead, or hold a lock.
 *
 * Throws: the errors of `work`; the signal's reason when aborted.
 */
export async function withClientUntil<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const client = await pool.connect();
  // The signal may have aborted before the listener was there.
  if (signal.aborted) client.release();
  signal.throwIfAborted();
  let isReleased = false;
  const release = (isBroken: boolean) => {
    if (!isReleased) client.release(isBroken);
    isReleased = true;
  };
  const breakOff = () => release(true);
  signal.addEventListener('abort', breakOff, { once: true });
  try {
    const result = await work(client);
    release(false);
    return result;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', breakOff);
    release(true);
  }
}
