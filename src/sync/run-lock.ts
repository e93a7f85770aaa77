// The lock by which a resource has one run at a time, whatever started it.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { sessionLockKey, withSessionLock } from '../db/session-lock.ts';

export type RunLocked<T> =
  | { readonly isHeldByOther: false; readonly result: T }
  /** `holder` names the other process as Postgres knows it: its application name and since when. */
  | { readonly isHeldByOther: true; readonly holder: string };

/**
 * Runs `work` while holding the mirror's lock on the resource, and returns its result; or, where another session
 * holds the lock, says which, without waiting.
 *
 * One connection is held for as long as the work takes. Should Postgres drop it (the process was stopped for long),
 * the lock is gone, though the work goes on: the run's attempt number then keeps it from committing anything once
 * another process has taken over.
 */
export async function withRunLock<T>(
  db: Database,
  resource: string,
  work: () => Promise<T>,
): Promise<RunLocked<T>> {
  const name = `run of ${resource} in`;
  const locked = await withSessionLock(db, { name, isPatient: false }, work);
  return locked.isHeldByOther ? { isHeldByOther: true, holder: await readHolder(db, name) } : locked;
}

async function readHolder(db: Database, name: string): Promise<string> {
  const { rows } = await sql<{ application_name: string; backend_start: string }>`
    with wanted as (select ${sessionLockKey(name)} as key)
    select a.application_name, a.backend_start
    from wanted, pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select oid from pg_database where datname = current_database())
      and l.classid::bigint = (wanted.key >> 32) & 4294967295 and l.objid::bigint = wanted.key & 4294967295
  `.execute(db);
  const holder = rows[0];
  // The lock may have been released between the two statements.
  if (holder === undefined) return 'another process, which has ended since';
  return `${holder.application_name} (connected since ${holder.backend_start})`;
}
