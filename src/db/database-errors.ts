// The meaning of an error of Postgres or of its driver, by its SQLSTATE, the code of its socket or the text of the
// driver: the server is away, the role lacks a right, or a write was refused for its row. A refused row must not hold
// up the others, and an unreachable database must not count against a row.
// Source of the SQLSTATEs: PostgreSQL manual, appendix A.

import { DatabaseError } from 'pg';
import { errorCode } from '../base/describe-error.ts';
import {
  AccessRefused,
  AppError,
  DatabaseFull,
  DatabaseRefused,
  DatabaseUnreachable,
  Unforeseen,
} from '../base/errors.ts';
import { GRANTEES } from './relations.ts';

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
/** pg's text, too. Only the set-up of a connection has such a time-out (session.ts). */
const NO_ANSWER = 'Query read timeout';

const READ_ONLY = '25006';
const NO_RIGHT = '42501';
const DISK_FULL = '53100';

/**
 * Returns DatabaseUnreachable, with the error as its cause, if the connection to Postgres was lost or could not be
 * made; AccessRefused if the role lacks a right, the database takes no writes, or row level security would hide rows;
 * DatabaseFull if its disk has no room; every other error as it is.
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
  if (error instanceof DatabaseError && error.routine === REFUSING_ROUTINE) {
    const remedy = sayRemedy('…', '…');
    // Postgres' own message, which is the cause, names the table.
    return new AccessRefused(`row level security would leave out rows, so Postgres refuses: ${remedy}`, {
      cause: error,
    });
  }
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

/** Returns asDatabaseError, and of any other error one with a code for the run log, with the error as its cause. */
export function asKnownError(error: unknown): AppError {
  const known = asDatabaseError(error);
  if (known instanceof AppError) return known;
  if (!isStatementError(known)) {
    return new Unforeseen('a bug of affiliate-mirror, please report it', { cause: known });
  }
  const remedy = PASSING.test(known.code ?? '')
    ? 'run it again'
    : 'drop the constraint, trigger or index that was added to its tables; if none was, affiliate-mirror doctor finds what is missing';
  return new DatabaseRefused(`the database refused a statement (${nameRefusal(known)}): ${remedy}`, {
    cause: known,
  });
}

/** The function of Postgres that refuses to leave out rows: its message is in the language of the server. */
const REFUSING_ROUTINE = 'check_enable_rls';

/** Returns the remedy of row level security (check-access.ts). */
export function sayRemedy(table: string, role: string): string {
  return `have its owner run "alter table ${table} disable row level security" ("no force row level security" for the owner itself), or a superuser "alter role ${role} bypassrls"`;
}

export function isLackOfRights(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === NO_RIGHT;
}

/** Of the server, the database or the role. */
export function isShortOfConnections(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === TOO_MANY_CONNECTIONS;
}

/** Returns whether the server accepted a new connection and did not answer. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === NO_ANSWER;
}

/** The predicate of a sentence about that. */
export const UNANSWERED =
  'lets us in, and does not answer: a pooler may have no connection left (default_pool_size of PgBouncer)';

export const NO_CONNECTION_LEFT =
  'no connection is left for this role: raise max_connections, or the connection limit of the role or the database, or stop other clients';

export const READ_ONLY_DATABASE =
  'the database takes no writes: if it is a standby, name the primary server in DATABASE_URL; else find out why default_transaction_read_only is set for it or its server, often a full disk, and reset it';

const LACKS_RIGHTS = `this role of the database lacks a right: "affiliate-mirror grants ${GRANTEES.join('|')}" prints the grants for each kind of role, and migrate is for the owner of the schema`;

function isLost(error: Error): boolean {
  const code = errorCode(error);
  if (error instanceof DatabaseError) return LOST_STATES.test(code);
  return LOST_SOCKETS.has(code) || LOST_TEXTS.some((text) => error.message.startsWith(text));
}

/**
 * Classes of SQLSTATE that are not about the values of a statement: connection, transaction state (an idle or a
 * read-only one), deadlock or serialization, resources, locks, operator (a shutdown, a timeout), system.
 */
const PASSING = /^(08|25|40|53|55|57|58)/;

/**
 * Classes that would refuse every row: missing, forbidden or unsupported objects, states of a session, faults of the
 * server and of our own functions. All others are about the values of a row: data, constraints, limits (an index entry
 * that is too long, JSON nested too deeply), and errors of a trigger, under any SQLSTATE that its author chose.
 */
const OF_EVERY_ROW = /^(0[ABFLPZ]|2[468D]|3[4BDF]|42|F0|HV|XX|P000[0234])/;

/** The errors of our own code for a value that it cannot read or encode, such as a record nested too deeply. */
const UNREADABLE = [RangeError, TypeError];

/** Returns whether the same write would be refused again. */
export function isRefusal(error: unknown): error is Error {
  if (isUnreadable(error)) return true;
  return isStatementError(error) && !PASSING.test(error.code ?? '');
}

/** Returns whether the write was refused for its own values, so that other rows may be accepted. */
export function isOfTheRow(error: unknown): error is Error {
  if (isUnreadable(error)) return true;
  return isRefusal(error) && isStatementError(error) && !OF_EVERY_ROW.test(error.code ?? '');
}

export function isStatementError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

/** Returns the reason of a refusal by SQLSTATE and constraint. Postgres' own message may quote the row's values. */
function nameRefusal(error: unknown): string {
  if (!isStatementError(error)) return 'it cannot be encoded';
  const { code, constraint } = error;
  return constraint === undefined ? `SQLSTATE ${code}` : `${constraint}, SQLSTATE ${code}`;
}

/** Returns why a row was not stored, without its values. */
export function describeRefusal(error: unknown): string {
  return `the database refused it (${nameRefusal(error)})`;
}

function isUnreadable(error: unknown): boolean {
  return UNREADABLE.some((kind) => error instanceof kind);
}

export const UNIQUE_VIOLATION = '23505';
export const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Classes of a server that serves no statement now: connection, authorization, a missing or closed database, resources,
 * operator, system.
 */
const REFUSES_ALL = /^(08|28|3D|53|55|57|58)...$/;

/** A table, a column, a function or a schema does not exist. */
const MISSING_TABLES = new Set(['42P01', '42703', '42883', '3F000']);

/** Returns whether the server would refuse every statement now. */
export function refusesAll(error: unknown): boolean {
  return REFUSES_ALL.test(errorCode(error));
}

export function isWithoutTables(error: unknown): boolean {
  return MISSING_TABLES.has(errorCode(error));
}
