// One run of a resource at a time, whatever started it: a lock that Postgres drops by itself when its holder dies.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

export type Locked<T> =
  | { readonly isHeldByOther: false; readonly result: T }
  /** `holder` names the other process as Postgres knows it: its application name and since when. */
  | { readonly isHeldByOther: true; readonly holder: string };

/**
 * Runs `work` while holding the mirror's lock on the resource, and gives back its result; or, where another session
 * holds the lock, says which, without waiting.
 *
 * One connection is held for as long as the work takes. Should Postgres drop it, the lock is gone, though the work
 * goes on: the ledger's attempt number then keeps it from committing anything once another process took over.
 */
export async function withRunLock<T>(
  db: Database,
  resource: string,
  work: () => Promise<T>,
): Promise<Locked<T>> {
  return db.connection().execute(async (connection) => {
    const key = sql`hashtextextended('affiliate-mirror run ' || current_schema() || '.' || ${resource}, 0)`;
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${key}) as locked`.execute(
      connection,
    );
    if (rows[0]?.locked !== true) return { isHeldByOther: true, holder: await readHolder(connection, key) };
    try {
      return { isHeldByOther: false, result: await work() };
    } finally {
      // A connection that is gone has dropped the lock by itself.
      await sql`select pg_advisory_unlock(${key})`.execute(connection).catch(() => undefined);
    }
  });
}

async function readHolder(connection: Database, key: ReturnType<typeof sql>): Promise<string> {
  const { rows } = await sql<{ application_name: string; backend_start: string }>`
    with wanted as (select ${key} as key)
    select a.application_name, a.backend_start
    from wanted, pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select oid from pg_database where datname = current_database())
      and l.classid::bigint = (wanted.key >> 32) & 4294967295 and l.objid::bigint = wanted.key & 4294967295
  `.execute(connection);
  const holder = rows[0];
  // The lock may have been given back between the two statements.
  if (holder === undefined) return 'another process, which has ended since';
  return `${holder.application_name} (connected since ${holder.backend_start})`;
}
