// Checks the connection to the database; an error says which server and database, what is wrong and how to fix it.

import { DatabaseError, type Pool } from 'pg';
import { readDatabaseUrl } from '../config/database-url.ts';
import { errorCode } from '../describe-error.ts';
import { AppError, ConfigError, DatabaseUnreachable } from '../errors.ts';
import { isShortOfConnections, isUnanswered, NO_CONNECTION_LEFT, UNANSWERED } from './as-database-error.ts';
import { readSession, type Session } from './session.ts';

/** The oldest that is tested: what Debian 12 has. */
const OLDEST_SERVER = 15;

// SQLSTATE of a refused connection → what is wrong, or what to do about it.
const HINTS: ReadonlyMap<string, string> = new Map([
  ['28P01', 'the password or the user name in DATABASE_URL is wrong'],
  ['28000', 'the server does not let this user in: check the user name in DATABASE_URL and pg_hba.conf'],
  ['3D000', 'this database does not exist: create it, or correct DATABASE_URL'],
  ['42501', 'this role may not connect: "grant connect on database" it, or correct DATABASE_URL'],
  ['57P03', 'the server is starting or shutting down: try again in a moment'],
  ['08P01', 'the server or a pooler refuses it: leave options out of DATABASE_URL, and PGOPTIONS unset'],
]);

const WRONG_CA = 'the certificate of the server comes from a CA that is not trusted';
const UNKNOWN_CA = `${WRONG_CA}: add sslrootcert=/path/of/its/ca.pem to DATABASE_URL, or name the right file there`;

// Node's code of a refused certificate → the same. Source: Node's documentation of tls, X509 certificate error codes.
const TLS_HINTS: ReadonlyMap<string, string> = new Map([
  ...[
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_SIGNATURE_FAILURE',
  ].map((code) => [code, UNKNOWN_CA] as const),
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'the certificate of the server is for another host: name that host in DATABASE_URL, or say sslmode=verify-ca, which does not compare it',
  ],
  ['CERT_HAS_EXPIRED', 'the certificate of the server has expired: have it renewed'],
]);

/** pg's own errors have no code: only their texts identify them. */
const NO_TLS = 'The server does not support SSL connections';
const NO_PASSWORD = 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a ';

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
    throw new DatabaseUnreachable(`cannot connect to ${nameDatabase(url)}: ${hintFor(error, url)}`, {
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

function hintFor(error: unknown, url: string): string {
  if (isShortOfConnections(error)) return NO_CONNECTION_LEFT;
  if (isUnanswered(error)) return `it ${UNANSWERED}`;
  const code = errorCode(error);
  if (error instanceof DatabaseError)
    return `${HINTS.get(code) ?? 'check DATABASE_URL'}${tlsHint(code, url)}`;
  const message = error instanceof Error ? error.message : '';
  if (message === NO_TLS) {
    return 'the server does not encrypt: turn its TLS on, or say sslmode=disable in DATABASE_URL';
  }
  if (message.startsWith(NO_PASSWORD)) return 'the server asks for a password, and DATABASE_URL has none';
  return TLS_HINTS.get(code) ?? 'check that Postgres runs there and that DATABASE_URL names it';
}

/**
 * A server that demands encryption, or a certificate of the client, refuses with a code that says only that it refuses.
 */
function tlsHint(code: string, url: string): string {
  if (code !== '28000' && code !== '08P01') return '';
  const { sslmode, sslcert } = readDatabaseUrl(url).tls;
  if (sslmode === null || sslmode === 'disable') {
    return '; where it takes only encrypted connections, add sslmode=require (or verify-full) to DATABASE_URL';
  }
  return sslcert === null ? '; where it asks for a certificate of yours, add sslcert and sslkey' : '';
}

/** Returns host, port and database of a connection address: the parts of it that may be printed. */
export function nameDatabase(url: string): string {
  const { host, port, database } = readDatabaseUrl(url);
  return `database ${database ?? '(default)'} at ${host ?? 'localhost'}:${port ?? 5432}`;
}
