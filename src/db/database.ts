// The Kysely handle over the pool, with which statements are written. A process makes one for each pool.

import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import type { Pool } from 'pg';
import { attachSession } from './locks/process-session.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
export type DatabaseTransaction = Transaction<Tables>;

/** Returns the typed handle. Destroying it ends the pool. */
export function makeDatabase(pool: Pool): Database {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  attachSession(db, pool);
  return db;
}
