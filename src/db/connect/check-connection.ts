// Checks the connection to the database. An error names the server, the database, the fault and the remedy.

import { DatabaseError } from 'pg';
import { describeTls, networkCode } from '../../base/describe-error.ts';
import { AppError, ConfigError, DatabaseUnreachable } from '../../base/errors.ts';
import { readDatabaseUrl } from '../../config/process/database-url.ts';
import { isShortOfConnections, isUnanswered, NO_CONNECTION_LEFT, UNANSWERED } from '../database-errors.ts';
import { readSession, type Session } from './session.ts';
import type { Pool } from './shared-pool.ts';

/** The oldest that is tested: Debian 12 has it. */
const OLDEST_SERVER = 15;

/**
 * Returns the session of the first connection.
 *
 * Throws: DatabaseUnreachable with host, port and database, never the password, also if the server is too old;
 * ConfigError if a pooler shares connections, or the database is not in UTF-8.
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

/** Returns the remedy. The fault is in the message of the error's cause, from Postgres, pg or Node. */
function hintFor(error: unknown): string {
  if (isShortOfConnections(error)) return NO_CONNECTION_LEFT;
  if (isUnanswered(error)) return `it ${UNANSWERED}`;
  if (error instanceof DatabaseError) return 'check DATABASE_URL';
  return (
    describeTls(networkCode(error), 'sslrootcert of DATABASE_URL') ??
    'check that Postgres runs there and that DATABASE_URL names it'
  );
}

/** Returns host, port and database of the address: the parts that may be printed. */
export function nameDatabase(url: string): string {
  const { host, port, database } = readDatabaseUrl(url);
  return `database ${database ?? '(default)'} at ${host ?? 'localhost'}:${port ?? 5432}`;
}
