// One worker at a time where BullMQ or a probe suffers no two. Knows a lock that falls with its connection.

import type { ConnectionPool } from './connection-pool.ts';

const LOCK = `hashtextextended('affiliate-mirror queue of ' || current_schema(), 0)`;

/**
 * Gives back what the work gives back, done under the lock; undefined where another process holds it and the caller
 * does not wait. Holds no transaction open, only a connection.
 */
export async function withQueueLock<T>(
  pool: ConnectionPool,
  { isPatient }: { isPatient: boolean },
  work: () => Promise<T>,
): Promise<T | undefined> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const lock = isPatient ? `pg_advisory_lock(${LOCK}) is not null` : `pg_try_advisory_lock(${LOCK})`;
    const { rows } = await client.query<{ locked: boolean }>(`select ${lock} as locked`);
    const isLocked = rows[0]?.locked === true;
    const result = isLocked ? await work() : undefined;
    if (isLocked) await client.query(`select pg_advisory_unlock(${LOCK})`);
    isBroken = false;
    return result;
  } finally {
    // Closing the connection is the one way to be rid of the lock whatever happened.
    client.release(isBroken);
  }
}
