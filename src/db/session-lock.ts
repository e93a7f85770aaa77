// A lock that is held for as long as a piece of work takes, and is taken from a process that was stopped meanwhile.
//
// It is a lock of the session: Postgres drops it with the connection when the process dies. One that is only stopped
// keeps its connection, so the holder says every few seconds that it goes on, and the server closes a connection that
// does not. Whoever wakes to that must be kept from harm by other means (a run by its attempt number).

import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';

const SAYS_SO_MS = 4000;
/** Far more than it says so: a starved machine is no stopped one. */
const CLOSED_AFTER = '15s';

export type Locked<T> =
  | { readonly isHeldByOther: false; readonly result: T }
  | { readonly isHeldByOther: true };

/**
 * Runs `work` while holding the lock of that name in the mirror's schema, and returns its result. Where another process
 * holds it, says so at once, or waits if it is patient.
 */
export async function withSessionLock<T>(
  db: Database,
  { name, isPatient }: { name: string; isPatient: boolean },
  work: () => Promise<T>,
): Promise<Locked<T>> {
  return db.connection().execute(async (connection) => {
    const key = sessionLockKey(name);
    const take = isPatient ? sql`pg_advisory_lock(${key}) is not null` : sql`pg_try_advisory_lock(${key})`;
    const { rows } = await sql<{ locked: boolean }>`select ${take} as locked`.execute(connection);
    if (rows[0]?.locked !== true) return { isHeldByOther: true };
    await sql`select set_config('idle_session_timeout', ${CLOSED_AFTER}, false)`.execute(connection);
    const saying = setInterval(() => {
      sql`select 1`.execute(connection).catch(() => {
        // The connection is gone, and the lock with it: the pool's own listener says so.
        clearInterval(saying);
      });
    }, SAYS_SO_MS);
    try {
      return { isHeldByOther: false, result: await work() };
    } finally {
      clearInterval(saying);
      await sql`select pg_advisory_unlock(${key}), set_config('idle_session_timeout', '0', false)`
        .execute(connection)
        .catch(() => undefined);
    }
  });
}

/** Returns the number of the lock of that name in the mirror's schema. */
export function sessionLockKey(name: string): RawBuilder<unknown> {
  return sql`hashtextextended(${`affiliate-mirror ${name} `} || current_schema(), 0)`;
}
