// A lock that is held for as long as a piece of work takes, and is taken from a process that was stopped meanwhile.
//
// It is a lock of the session: Postgres drops it with the connection when the process dies. One that is only stopped
// keeps its connection, so the holder sends a statement every few seconds, and the server closes a connection that
// sends none. A process that wakes up after that must be stopped by other means (a run by its attempt number).

import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import { type OtherSession, SESSION_COLUMNS } from './name-session.ts';
import { onlyRow } from './only-row.ts';

const KEEPALIVE_MS = 4000;
/** How long a holder may send nothing. Much longer than that, since a process may only be starved, not stopped. */
const CLOSED_AFTER = '15s';

export type Locked<T> =
  | { readonly isHeldByOther: false; readonly result: T }
  | { readonly isHeldByOther: true };

/**
 * Runs `work` while holding the lock of that name in the mirror's schema, and returns its result. Where another process
 * holds it, returns that at once; with `isPatient` it waits.
 */
export async function withSessionLock<T>(
  db: Database,
  { name, isPatient }: { name: string; isPatient: boolean },
  work: () => Promise<T>,
): Promise<Locked<T>> {
  return db.connection().execute(async (connection) => {
    const key = sessionLockKey(name);
    const take = isPatient ? sql`pg_advisory_lock(${key}) is not null` : sql`pg_try_advisory_lock(${key})`;
    // In one statement: a process may be stopped between any two.
    const answer = await sql<{ locked: boolean; usual: string }>`
      with taken as materialized (
        select ${take} as locked, current_setting('idle_session_timeout') as usual
      )
      select locked, usual, case when locked then set_config('idle_session_timeout', ${CLOSED_AFTER}, false) end
      from taken
    `.execute(connection);
    const { locked, usual } = onlyRow(answer, 'a lock of the session');
    if (!locked) return { isHeldByOther: true };
    const keepalive = setInterval(() => {
      sql`select 1`.execute(connection).catch(() => {
        // The connection is gone, and the lock with it: the pool's own listener reports it.
        clearInterval(keepalive);
      });
    }, KEEPALIVE_MS);
    try {
      return { isHeldByOther: false, result: await work() };
    } finally {
      clearInterval(keepalive);
      await sql`select pg_advisory_unlock(${key}), set_config('idle_session_timeout', ${usual}, false)`
        .execute(connection)
        .catch(() => undefined);
    }
  });
}

/** Returns the session that holds the advisory lock of that number; null where none does any more. */
export async function findLockHolder(db: Database, key: RawBuilder<unknown>): Promise<OtherSession | null> {
  const { rows } = await sql<OtherSession>`
    with wanted as (select ${key} as key)
    select ${sql.raw(SESSION_COLUMNS)}
    from wanted, pg_locks held join pg_stat_activity activity using (pid)
    where held.locktype = 'advisory' and held.granted and held.objsubid = 1
      and held.database = (select oid from pg_database where datname = current_database())
      and held.classid::bigint = (wanted.key >> 32) & 4294967295 and held.objid::bigint = wanted.key & 4294967295
    limit 1
  `.execute(db);
  return rows[0] ?? null;
}

/** Returns the number of the lock of that name in the mirror's schema. */
export function sessionLockKey(name: string): RawBuilder<unknown> {
  return sql`hashtextextended(${`affiliate-mirror ${name} `} || current_schema(), 0)`;
}
