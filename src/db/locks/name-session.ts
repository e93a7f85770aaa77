// The name of another session of the database in messages: its application, its process and its role.

import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../tables.ts';

export interface OtherSession {
  readonly pid: number;
  readonly application: string;
  /** Null if this role may not see it. */
  readonly role: string | null;
}

/** Its columns, from pg_stat_activity as `activity`. */
export const SESSION_COLUMNS = `
  activity.pid, coalesce(nullif(activity.application_name, ''), activity.backend_type, 'a client') as application,
  activity.usename as role`;

/** For example `psql (pid 4711, role analyst)`. */
export function nameSession({ pid, application, role }: OtherSession): string {
  return role === null ? `${application} (pid ${pid})` : `${application} (pid ${pid}, role ${role})`;
}

/** Returns the session that holds the advisory lock with this number; null if none does any more. */
export async function findLockHolder(
  db: Kysely<Tables>,
  key: RawBuilder<unknown>,
): Promise<OtherSession | null> {
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
