// Says who keeps us waiting. A statement waits without a word for as long as somebody holds a lock on a table, such as
// an analyst whose transaction was left open, and nothing else shows that it is not simply slow.
//
// Advisory locks of other processes of ours are left out: waiting for one is part of the work. But every role that may
// connect can take one, so those of anybody else are not.

import type { Pool, PoolClient } from 'pg';
import { nameSession, type OtherSession, SESSION_COLUMNS } from './name-session.ts';
import { readSession } from './session.ts';

/** A wait is noticed after between one and both of these together. */
const WAITED = '3s';
const LOOK_EVERY_MS = 5000;

export interface LockHolder extends OtherSession {
  /** What it holds a lock on. */
  readonly relation: string;
}

/** Returns a sentence without a full stop. */
export function describeHolder(holder: LockHolder): string {
  return `${nameSession(holder)} holds a lock on ${holder.relation}: end its transaction, with "select pg_terminate_backend(${holder.pid})" where it was forgotten`;
}

/**
 * Calls `say` once for each process that keeps a connection of the pool waiting, until it no longer does. Looks over a
 * connection of the pool that is free, and not at all while there is none. Returns what ends that.
 */
export function watchLocks(pool: Pool, say: (holder: LockHolder) => void): () => void {
  const busy = new Set<PoolClient>();
  pool.on('acquire', (client) => busy.add(client));
  pool.on('release', (_, client) => busy.delete(client));
  pool.on('remove', (client) => busy.delete(client));
  let said = new Set<number>();
  const look = async () => {
    const isFull = pool.idleCount === 0 && pool.totalCount >= pool.options.max;
    if (busy.size === 0 || isFull) return;
    const { rows } = await pool.query<LockHolder>(HOLDERS, [
      [...busy].map((client) => readSession(client).pid),
      WAITED,
    ]);
    for (const holder of rows) if (!said.has(holder.pid)) say(holder);
    said = new Set(rows.map(({ pid }) => pid));
  };
  const timer = setInterval(() => {
    look().catch(() => {
      // The work itself meets whatever is wrong with the database, and reports it.
    });
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

const HOLDERS = `
  select distinct on (activity.pid) ${SESSION_COLUMNS},
    coalesce(relname::text, case locktype when 'advisory' then 'a name (advisory)' else 'a row' end) as relation
  from pg_locks waiting
  cross join unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
  join pg_stat_activity activity on activity.pid = blocking.pid
  left join pg_class on pg_class.oid = waiting.relation
  where not waiting.granted and waiting.pid = any ($1)
    and (waiting.locktype <> 'advisory' or activity.application_name !~ '^affiliate-mirror')
    and waiting.waitstart < clock_timestamp() - $2::interval`;

/** Returns who holds a lock that keeps others from reading or writing a table of the schema, each session once. */
export async function findHolders(
  client: Pick<PoolClient, 'query'>,
  schema: string,
): Promise<readonly LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `select distinct on (activity.pid) ${SESSION_COLUMNS}, relname::text as relation
     from pg_locks held
     join pg_class on pg_class.oid = held.relation
     join pg_stat_activity activity on activity.pid = held.pid
     where held.database = (select oid from pg_database where datname = current_database())
       and relnamespace = (select oid from pg_namespace where nspname = $1) and relkind in ('r', 'p')
       and held.granted and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
     order by activity.pid, mode, relname`,
    [schema],
  );
  return rows;
}
