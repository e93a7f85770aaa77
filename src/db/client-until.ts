// A connection of the pool for as long as a signal is not aborted.

import type { Pool, PoolClient } from 'pg';

/**
 * Returns what `work` returns. Aborted, the connection is closed: the statement that is under way fails, what was not
 * committed is undone, and `work` is waited for, since it may have to clean up. It is closed as well where `work`
 * fails: it may be dead, or hold a lock.
 *
 * Throws: what `work` throws; the signal's reason when aborted.
 */
export async function withClientUntil<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const client = await pool.connect();
  // While it connected, nobody listened.
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
