// How many mirrors a database has, against what is tested, and what sets the bound: a transaction that touches every
// table, such as pg_dump's, holds a lock on each until its end, and all sessions share the places for locks.

import type { Pool } from '../connect/shared-pool.ts';

/** Tested in one database. */
const MOST_MIRRORS = 100;

/** Of pg_dump, for one mirror; measured with Postgres 15: 6,254 for 100. */
const LOCKS_PER_MIRROR = 64;

/** Returns what to do if the database has more mirrors than are tested; else null. */
export async function adviseOnMirrors(pool: Pool): Promise<string | null> {
  // Other programs have a table with this name as well: only ours has fingerprints.
  const { rows } = await pool.query<{ mirrors: number; locks: number; sessions: number }>(`
    select count(*)::int as mirrors, current_setting('max_locks_per_transaction')::int as locks,
           current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int as sessions
    from pg_class
    where relname = 'schema_migrations' and relkind = 'r'
      and exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'sha256' and not attisdropped)`);
  const [{ mirrors, locks, sessions } = { mirrors: 0, locks: 0, sessions: 1 }] = rows;
  if (mirrors <= MOST_MIRRORS) return null;
  const needed = Math.ceil((mirrors * LOCKS_PER_MIRROR) / sessions);
  const found = `it has ${mirrors} mirrors, and ${MOST_MIRRORS} are tested: keep further programs in another database`;
  return locks >= needed
    ? `${found} (max_locks_per_transaction is high enough for these)`
    : `${found}, or set max_locks_per_transaction of Postgres to ${needed} (now ${locks}) and restart it: pg_dump of the whole database runs out of locks`;
}
