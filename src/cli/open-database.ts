// Opens the Postgres that the configuration names, or the embedded one, for the life of a command.

import { join } from 'node:path';
import type { Pool } from 'pg';
import type { Config } from '../config/config.ts';
import { refuseReadOnly } from '../db/check-access.ts';
import { checkConnection, nameDatabase } from '../db/check-connection.ts';
import { type Database, makeDatabase } from '../db/database.ts';
import { makePool } from '../db/pool.ts';
import type { Session } from '../db/session.ts';
import { reportsSchema } from '../db/sibling-schema.ts';
import { makeSockets, type Sockets } from '../db/sockets.ts';
import { describeHolder, watchLocks } from '../db/watch-locks.ts';
import { openEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import type { Logger } from '../log.ts';
import type { Lifetime } from './lifetime.ts';
import { printError } from './output/print.ts';

/** A walk, its loader and the budget's permits need a connection each, and a few wait at once. */
const MOST_CONNECTIONS = 8;

// How many connections a command's pool may hold, how many a queue in Postgres takes besides (see
// src/queue/postgres-backend.ts), and whether all that the command does ends in a write.
const CONNECTIONS = {
  demo: { most: MOST_CONNECTIONS, queue: 0, isWriting: true },
  // One does the work, the other sees who keeps it waiting. (A dry run only reads.)
  migrate: { most: 2, queue: 0, isWriting: false },
  sync: { most: MOST_CONNECTIONS, queue: 0, isWriting: true },
  work: { most: MOST_CONNECTIONS, queue: 4, isWriting: true },
  commissions: { most: MOST_CONNECTIONS, queue: 0, isWriting: false },
  sandbox: { most: MOST_CONNECTIONS, queue: 0, isWriting: true },
  deletions: { most: 2, queue: 0, isWriting: false },
  'personal-data': { most: 2, queue: 0, isWriting: true },
  forget: { most: 2, queue: 0, isWriting: true },
  // One reads the rows, one holds the lock of an incremental export, one writes its watermark.
  export: { most: 3, queue: 0, isWriting: false },
  alerts: { most: 2, queue: 0, isWriting: false },
  status: { most: 2, queue: 0, isWriting: false },
  doctor: { most: 2, queue: 1, isWriting: false },
} as const;

/** Commands that open the database, by the word that names them. */
export type DatabaseCommand = keyof typeof CONNECTIONS;

/** Returns how many connections the command holds at most, with those of its queue. */
export function connectionsOf(command: DatabaseCommand, isQueueInPostgres: boolean): number {
  const { most, queue } = CONNECTIONS[command];
  return most + (isQueueInPostgres ? queue : 0);
}

/** Returns whether the word names one of them. */
export function isDatabaseCommand(word: string | undefined): word is DatabaseCommand {
  return word !== undefined && Object.hasOwn(CONNECTIONS, word);
}

export interface Stopping {
  /**
   * Whether the first signal closes the connections, and what was not committed is undone: for commands that have
   * nothing to bring to an end.
   */
  readonly endsAtOnce: boolean;
}

export interface OpenDatabase {
  readonly pool: Pool;
  readonly db: Database;
  /** With the password: for what opens connections of its own, and nothing else. */
  readonly url: string;
  /** What its connections are. */
  readonly session: Session;
  /** Database, host and port: what may be printed of it. */
  readonly name: string;
  readonly isEmbedded: boolean;
  /** A shell command that opens psql on it, with the mirror's schema in the search path. Holds no password. */
  readonly psqlCommand: string;
}

/**
 * Returns the database, answering. Closed with the lifetime. The command's name is what others see of us in
 * Postgres, such as the one who waits for a lock of ours. Whoever keeps us waiting for one is named on stderr, a
 * worker's in the log.
 *
 * Until the database has answered, the first signal closes its connections, whatever the command.
 *
 * Throws: EmbeddedPostgresFailed; DatabaseUnreachable; AccessRefused where the command writes and the database takes no
 * writes; ConfigError where DATABASE_URL leads to what cannot be used; the signal's reason when aborted.
 */
export async function openDatabase(
  deps: { log: Logger; lifetime: Lifetime },
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'mirrorSchema'>,
  command: DatabaseCommand,
  { endsAtOnce }: Stopping = { endsAtOnce: false },
): Promise<OpenDatabase> {
  const { log, lifetime } = deps;
  const url = config.databaseUrl ?? (await openEmbedded(deps, config.dataDir, command));
  lifetime.signal.throwIfAborted();
  const sockets = makeSockets();
  const pool = makePool(
    { log, sockets },
    {
      url,
      schema: config.mirrorSchema,
      max: CONNECTIONS[command].most,
      applicationName: `affiliate-mirror ${command}`,
    },
  );
  lifetime.onClose(() => pool.end());
  if (endsAtOnce) lifetime.onStop(sockets.closeAll);
  const session = await connect(pool, { url, sockets, signal: lifetime.signal });
  if (CONNECTIONS[command].isWriting) await refuseReadOnly(pool);
  lifetime.signal.throwIfAborted();
  const endWatch = watchLocks(pool, (holder) => {
    const { pid, application, role, relation } = holder;
    if (command === 'work') log.warn({ pid, application, role, relation }, 'db.waits_for_lock');
    else printError(`affiliate-mirror: waiting: ${describeHolder(holder)}`);
  });
  lifetime.onClose(async () => endWatch());
  return {
    pool,
    db: makeDatabase(pool),
    url,
    session,
    name: nameDatabase(url),
    isEmbedded: config.databaseUrl === null,
    psqlCommand: describePsql(url, config),
  };
}

/** Who stops a command that waits for a silent server hears that, and not of the server. */
async function connect(
  pool: Pool,
  { url, sockets, signal }: { url: string; sockets: Sockets; signal: AbortSignal },
): Promise<Session> {
  signal.addEventListener('abort', sockets.closeAll);
  try {
    return await checkConnection(pool, url);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', sockets.closeAll);
  }
}

async function openEmbedded(
  { log, lifetime }: { log: Logger; lifetime: Lifetime },
  dataDir: string,
  command: DatabaseCommand,
): Promise<string> {
  const embedded = await openEmbeddedPostgres({ log }, { dataDir });
  lifetime.onClose(() => embedded.stop());
  // A wrong directory, or a forgotten DATABASE_URL, looks like a mirror that lost everything. The demo says it itself.
  if (embedded.madeIn !== null && command !== 'demo') {
    printError(
      `affiliate-mirror: a new, empty database was made in ${embedded.madeIn}, since DATABASE_URL is not set`,
    );
  }
  return embedded.url;
}

function describePsql(url: string, config: Pick<Config, 'databaseUrl' | 'dataDir' | 'mirrorSchema'>): string {
  const options = `PGOPTIONS=--search_path=${config.mirrorSchema},${reportsSchema(config.mirrorSchema)}`;
  if (config.databaseUrl !== null) return `${options} psql "$DATABASE_URL"`;
  const address = new URL(url);
  address.password = '';
  const passwordFile = join(config.dataDir, 'postgres', 'password');
  return `${options} PGPASSWORD="$(cat '${passwordFile}')" psql '${address.href}'`;
}
