// Finds the session for which this process waits. A statement waits silently while another session holds a lock on a
// table, such as an analyst's open transaction, and seems to be only slow.
//
// Advisory locks of our own processes are left out, because waiting for them is part of the work. Other roles can take
// advisory locks as well, and those are reported.

import { readSession } from '../connect/session.ts';
import type { SharedPool } from '../connect/shared-pool.ts';
import { nameSession, type OtherSession, SESSION_COLUMNS } from './name-session.ts';
import { isOfProcessSession } from './process-session.ts';

/** A wait is noticed after between one and both of these together. */
const WAITED = '3s';
const CHECK_EVERY_MS = 5000;

export interface LockHolder extends OtherSession {
  readonly relation: string;
}

export function describeHolder(holder: LockHolder): string {
  return `${nameSession(holder)} holds a lock on ${holder.relation}: end its transaction, with "select pg_terminate_backend(${holder.pid})" if it was left open`;
}

/**
 * Calls `say` once for each session that makes a connection of the pool wait, until the wait is over. Checks over a
 * free connection of the pool, and only while there is one. Returns the function that ends the checks.
 */
export function watchLocks(
  { base, busy, hasFree }: SharedPool,
  say: (holder: LockHolder) => void,
): () => void {
  let said = new Set<number>();
  const check = async () => {
    const pids = [...busy].filter((client) => !isOfProcessSession(client)).map((one) => readSession(one).pid);
    if (pids.length === 0 || !hasFree()) return;
    const { rows } = await base.query<LockHolder>(HOLDERS, [pids, WAITED]);
    for (const holder of rows) if (!said.has(holder.pid)) say(holder);
    said = new Set(rows.map(({ pid }) => pid));
  };
  const timer = setInterval(() => {
    check().catch(() => {
      // The work itself meets the same failure, and reports it.
    });
  }, CHECK_EVERY_MS);
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
