// Turns a lost connection into DatabaseUnreachable, and a refused right, row level security, a read-only database or
// a full disk into words that say how to fix it. Leaves every other error as it is.

import { DatabaseError } from 'pg';
import { errorCode } from '../describe-error.ts';
import { AccessRefused, AppError, DatabaseFull, DatabaseUnreachable } from '../errors.ts';
import { GRANTEES } from './grants.ts';
import { asRowSecurity, isRowSecurity } from './row-security.ts';

/**
 * SQLSTATE classes and codes of a server that went away, is not up yet, or closed the connection of a process that was
 * stopped in the middle of a transaction.
 */
const LOST_STATES = /^(08...|57P0[1235]|25P03)$/;
const TOO_MANY_CONNECTIONS = '53300';
const LOST_SOCKETS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
]);
/** pg's own errors of a broken connection have neither a code nor a class: only their texts identify them. */
const LOST_TEXTS = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  'timeout exceeded when trying to connect',
];
/** pg's text, too. Nothing but the set-up of a connection has such a time-out (session.ts). */
const NO_ANSWER = 'Query read timeout';

const READ_ONLY = '25006';
const NO_RIGHT = '42501';
const DISK_FULL = '53100';

/**
 * Returns DatabaseUnreachable, with the error as its cause, where the error means that the connection to Postgres was
 * lost or could not be made; AccessRefused where this role or this database may not write, or not so, or would see only
 * a part; DatabaseFull where its disk has no room; every other error as it is.
 */
export function asDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  if (isShortOfConnections(error)) return new DatabaseUnreachable(NO_CONNECTION_LEFT, { cause: error });
  if (isUnanswered(error)) return new DatabaseUnreachable(`the database ${UNANSWERED}`, { cause: error });
  if (isLost(error)) {
    return new DatabaseUnreachable('the connection to the database was lost: check that Postgres runs', {
      cause: error,
    });
  }
  if (isRowSecurity(error)) return asRowSecurity(error);
  if (isLackOfRights(error)) return new AccessRefused(LACKS_RIGHTS, { cause: error });
  if (error instanceof DatabaseError && error.code === READ_ONLY) {
    return new AccessRefused(READ_ONLY_DATABASE, { cause: error });
  }
  if (error instanceof DatabaseError && error.code === DISK_FULL) {
    return new DatabaseFull('the disk of Postgres is full: make room there, or give it a larger one', {
      cause: error,
    });
  }
  return error;
}

/** Returns whether this role may not do what it asked for. */
export function isLackOfRights(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === NO_RIGHT;
}

/** Returns whether the server, the database or the role has as many connections as it may. */
export function isShortOfConnections(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === TOO_MANY_CONNECTIONS;
}

/** Returns whether a new connection was let in, and not answered. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === NO_ANSWER;
}

/** What that means, to be read after what does so. */
export const UNANSWERED =
  'lets us in, and does not answer: a pooler may have no connection left (default_pool_size of PgBouncer)';

/** What to do where there is no connection left. */
export const NO_CONNECTION_LEFT =
  'no connection is left for this role: raise max_connections, or the connection limit of the role or the database, or stop other clients';

/** What is wrong with a database that takes no writes. */
export const READ_ONLY_DATABASE =
  'the database takes no writes: where it is a standby, name the primary server in DATABASE_URL; else find out why default_transaction_read_only is set for it or its server, often a full disk, and reset it';

const LACKS_RIGHTS = `this role of the database lacks a right: "affiliate-mirror grants ${GRANTEES.join('|')}" prints what its owner has to grant for each kind of role, and migrate is for the owner of the schema`;

function isLost(error: Error): boolean {
  const code = errorCode(error);
  if (error instanceof DatabaseError) return LOST_STATES.test(code);
  return LOST_SOCKETS.has(code) || LOST_TEXTS.some((text) => error.message.startsWith(text));
}
