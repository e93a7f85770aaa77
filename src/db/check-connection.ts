// Checks the connection to the database; an error says which server and database, what is wrong and how to fix it.

import { DatabaseError, type Pool } from 'pg';
import { DatabaseUnreachable } from '../errors.ts';

/** Source: design, Configuration. */
const OLDEST_SERVER = 15;

// SQLSTATE of a refused connection → what is wrong, or what to do about it.
const HINTS: ReadonlyMap<string, string> = new Map([
  ['28P01', 'the password or the user name in DATABASE_URL is wrong'],
  ['28000', 'the server does not let this user in: check the user name in DATABASE_URL and pg_hba.conf'],
  ['3D000', 'this database does not exist: create it, or correct DATABASE_URL'],
  ['53300', 'the server has no connection left: raise max_connections or stop other clients'],
  ['57P03', 'the server is starting or shutting down: try again in a moment'],
]);

/**
 * Resolves once the database has answered.
 *
 * Throws: DatabaseUnreachable naming host, port and database, never the password; also where the server is too old.
 */
export async function checkConnection(pool: Pool, url: string): Promise<void> {
  let version: number;
  try {
    const answer = await pool.query<{ version: number }>(
      `select current_setting('server_version_num')::int / 10000 as version`,
    );
    version = answer.rows[0]?.version ?? 0;
  } catch (error) {
    throw unreachable(error, url);
  }
  if (version < OLDEST_SERVER) {
    throw new DatabaseUnreachable(
      `${nameDatabase(url)} runs Postgres ${version}: version ${OLDEST_SERVER} or newer is needed`,
    );
  }
}

function unreachable(error: unknown, url: string): DatabaseUnreachable {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const hint =
    HINTS.get(code) ??
    (error instanceof DatabaseError
      ? 'check DATABASE_URL'
      : 'check that Postgres runs there and that DATABASE_URL names it');
  return new DatabaseUnreachable(`cannot connect to ${nameDatabase(url)}: ${hint}`, { cause: error });
}

/** Returns host, port and database of a connection address: the parts of it that may be printed. */
export function nameDatabase(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const database = decodeURIComponent(pathname.slice(1));
  return `database ${database === '' ? '(default)' : database} at ${host}:${port === '' ? 5432 : port}`;
}
