// Opens the Postgres that the configuration names, or the embedded one, for the life of a command.

import { join } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../config/config.ts';
import { checkConnection, nameDatabase } from '../db/check-connection.ts';
import { type Database, makeDatabase } from '../db/database.ts';
import { makePool } from '../db/pool.ts';
import { openEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import type { Logger } from '../log.ts';
import type { Lifetime } from './lifetime.ts';

/** A walk, its loader and the budget's permits need a connection each, and a few wait at once. */
const MOST_CONNECTIONS = 8;

export interface OpenDatabase {
  readonly pool: Pool;
  readonly db: Database;
  /** With the password: for what opens connections of its own, and nothing else. */
  readonly url: string;
  /** Database, host and port: what may be printed of it. */
  readonly name: string;
  readonly isEmbedded: boolean;
  /** A shell command that opens psql on it, with the mirror's schema in the search path. Holds no password. */
  readonly psqlCommand: string;
}

/**
 * Returns the database, answering. Closed with the lifetime. The command's name is what others see of us in
 * Postgres, such as the one who waits for a lock of ours.
 *
 * Throws: EmbeddedPostgresFailed; DatabaseUnreachable; the signal's reason when aborted.
 */
export async function openDatabase(
  deps: { log: Logger; lifetime: Lifetime },
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'mirrorSchema'>,
  command: string,
): Promise<OpenDatabase> {
  const { log, lifetime } = deps;
  const url = config.databaseUrl ?? (await openEmbedded(deps, config.dataDir));
  lifetime.signal.throwIfAborted();
  const pool = makePool(
    { log },
    {
      url,
      schema: config.mirrorSchema,
      max: MOST_CONNECTIONS,
      applicationName: `affiliate-mirror ${command}`,
    },
  );
  lifetime.onClose(() => pool.end());
  await checkConnection(pool, url);
  lifetime.signal.throwIfAborted();
  return {
    pool,
    db: makeDatabase(pool),
    url,
    name: nameDatabase(url),
    isEmbedded: config.databaseUrl === null,
    psqlCommand: describePsql(url, config),
  };
}

async function openEmbedded(
  { log, lifetime }: { log: Logger; lifetime: Lifetime },
  dataDir: string,
): Promise<string> {
  const embedded = await openEmbeddedPostgres({ log }, { dataDir });
  lifetime.onClose(() => embedded.stop());
  return embedded.url;
}

function describePsql(url: string, config: Pick<Config, 'databaseUrl' | 'dataDir' | 'mirrorSchema'>): string {
  const options = `PGOPTIONS=--search_path=${config.mirrorSchema}`;
  if (config.databaseUrl !== null) return `${options} psql "$DATABASE_URL"`;
  const address = new URL(url);
  address.password = '';
  const passwordFile = join(config.dataDir, 'postgres', 'password');
  return `${options} PGPASSWORD="$(cat '${passwordFile}')" psql '${address.href}'`;
}
