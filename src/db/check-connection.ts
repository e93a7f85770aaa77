// Checks the connection to the database; an error says which server and database, what is wrong and how to fix it.

import { DatabaseError, type Pool } from 'pg';
import { readDatabaseUrl } from '../config/database-url.ts';
import { describeUntrusted } from '../describe-error.ts';
import { AppError, ConfigError, DatabaseUnreachable } from '../errors.ts';
import { isShortOfConnections, isUnanswered, NO_CONNECTION_LEFT, UNANSWERED } from './as-database-error.ts';
import { readSession, type Session } from './session.ts';

/** The oldest that is tested: what Debian 12 has. */
const OLDEST_SERVER = 15;

/**
 * Returns what the first connection is, once it was set up.
 *
 * Throws: DatabaseUnreachable naming host, port and database, never the password, also where the server is too old;
 * ConfigError where a pooler shares connections out, or the database is not in UTF-8.
 */
export async function checkConnection(pool: Pool, url: string): Promise<Session> {
  let session: Session;
  try {
    const client = await pool.connect();
    session = readSession(client);
    client.release();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new DatabaseUnreachable(`cannot connect to ${nameDatabase(url)}: ${hintFor(error)}`, {
      cause: error,
    });
  }
  if (session.version < OLDEST_SERVER) {
    throw new DatabaseUnreachable(
      `${nameDatabase(url)} runs Postgres ${session.version}: version ${OLDEST_SERVER} or newer is needed`,
    );
  }
  if (session.encoding !== 'UTF8') {
    throw new ConfigError([
      `${nameDatabase(url)} keeps its text as ${session.encoding}, which lacks characters that records have: make another with "create database NAME encoding 'UTF8' locale 'C.UTF-8' template template0", and name it in DATABASE_URL`,
    ]);
  }
  return session;
}

/** Returns what to do. What is wrong, Postgres, pg and Node say themselves: it is the error's cause. */
function hintFor(error: unknown): string {
  if (isShortOfConnections(error)) return NO_CONNECTION_LEFT;
  if (isUnanswered(error)) return `it ${UNANSWERED}`;
  if (error instanceof DatabaseError) return 'check DATABASE_URL';
  return (
    describeUntrusted(error, 'sslrootcert of DATABASE_URL') ??
    'check that Postgres runs there and that DATABASE_URL names it'
  );
}

/** Returns host, port and database of a connection address: the parts of it that may be printed. */
export function nameDatabase(url: string): string {
  const { host, port, database } = readDatabaseUrl(url);
  return `database ${database ?? '(default)'} at ${host ?? 'localhost'}:${port ?? 5432}`;
}
