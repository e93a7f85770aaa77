// The Kysely handle over a program's connections, with which statements are written. A process makes one for each
// program, because what Kysely keeps of statements hangs on it.

import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import type { Pool } from './connect/shared-pool.ts';
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
