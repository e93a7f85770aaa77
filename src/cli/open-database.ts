// Opens the Postgres that the configuration names, or the embedded one, for the life of a command.

import { join } from 'node:path';
import type { Logger } from '../base/log.ts';
import type { ProcessConfig } from '../config/config.ts';
import { reportsSchema } from '../config/program/sibling-schema.ts';
import { refuseReadOnly } from '../db/access/check-access.ts';
import { checkConnection, nameDatabase } from '../db/connect/check-connection.ts';
import { makeDatabasePool } from '../db/connect/pool.ts';
import type { Session } from '../db/connect/session.ts';
import type { Pool, SharedPool } from '../db/connect/shared-pool.ts';
import { makeSockets, type Sockets } from '../db/connect/sockets.ts';
import { describeHolder, watchLocks } from '../db/locks/watch-locks.ts';
import type { Opener } from './cli.ts';
import type { Lifetime } from './lifetime.ts';
import { printError } from './output/print.ts';

export interface OpenDatabase {
  /** Its connections, for every program. */
  readonly shared: SharedPool;
  /** Holds the password: only for connections outside the pool. */
  readonly url: string;
  readonly session: Session;
  /** Database, host and port, without secrets. */
  readonly name: string;
  readonly isEmbedded: boolean;
  /** Returns a shell command that opens psql on it, with the mirror's schema in the search path. Holds no password. */
  readonly describePsql: (mirrorSchema: string) => string;
}

interface DatabaseOptions {
  /** The first signal closes the connections, and what was not committed is undone. */
  readonly endsAtOnce?: boolean | undefined;
  /** Whether it may serve several programs; see makeDatabasePool. */
  readonly isForMany?: boolean | undefined;
}

/**
 * Returns the database, once it has answered. Closed with the lifetime. Its connections carry the command's name in
 * Postgres. A session whose lock the command waits for is named on stderr; in a worker, in the log.
 *
 * Until the database has answered, the first signal ends every command at once.
 *
 * Throws: EmbeddedPostgresFailed; DatabaseUnreachable; AccessRefused if the command writes and the database takes no
 * writes; ConfigError if DATABASE_URL names a database that cannot be used; the signal's reason when aborted.
 */
export async function openDatabase(
  deps: { log: Logger; lifetime: Lifetime },
  process: ProcessConfig,
  { name, connections }: Opener,
  { endsAtOnce = false, isForMany = false }: DatabaseOptions = {},
): Promise<OpenDatabase> {
  const { log, lifetime } = deps;
  const { databaseUrl, dataDir } = process;
  const url = databaseUrl ?? (await openEmbedded(deps, dataDir, name));
  lifetime.signal.throwIfAborted();
  const sockets = makeSockets();
  const shared = makeDatabasePool(
    { log, sockets },
    { url, max: connections.pool, applicationName: `affiliate-mirror ${name}`, isForMany },
  );
  const pool = shared.base;
  lifetime.onClose(() => pool.end());
  if (endsAtOnce) lifetime.onStop(sockets.closeAll);
  const session = await connect(pool, { url, sockets, signal: lifetime.signal });
  if (connections.isWriting) await refuseReadOnly(pool);
  lifetime.signal.throwIfAborted();
  const endWatch = watchLocks(shared, (holder) => {
    const { pid, application, role, relation } = holder;
    if (name === 'work') log.warn({ pid, application, role, relation }, 'db.waits_for_lock');
    else printError(`affiliate-mirror: waiting: ${describeHolder(holder)}`);
  });
  lifetime.onClose(async () => endWatch());
  return {
    shared,
    url,
    session,
    name: nameDatabase(url),
    isEmbedded: databaseUrl === null,
    describePsql: (mirrorSchema) => describePsql(url, process, mirrorSchema),
  };
}

/** Throws the signal's reason rather than the server's error if both apply. */
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
  command: string,
): Promise<string> {
  const { openEmbeddedPostgres } = await import('../embedded-postgres/embedded-postgres.ts');
  const embedded = await openEmbeddedPostgres({ log }, { dataDir });
  lifetime.onClose(() => embedded.stop());
  // With a wrong directory, or without its DATABASE_URL, a mirror looks empty. The demo names the directory itself.
  if (embedded.madeIn !== null && command !== 'demo') {
    printError(
      `affiliate-mirror: a new, empty database was made in ${embedded.madeIn}, since DATABASE_URL is not set`,
    );
  }
  return embedded.url;
}

function describePsql(url: string, { databaseUrl, dataDir }: ProcessConfig, mirrorSchema: string): string {
  const options = `PGOPTIONS=--search_path=${mirrorSchema},${reportsSchema(mirrorSchema)}`;
  if (databaseUrl !== null) return `${options} psql "$DATABASE_URL"`;
  const address = new URL(url);
  address.password = '';
  const passwordFile = join(dataDir, 'postgres', 'password');
  return `${options} PGPASSWORD="$(cat '${passwordFile}')" psql '${address.href}'`;
}
