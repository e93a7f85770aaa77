// Turns a lost connection into DatabaseUnreachable, and leaves every other error of a statement as it is.

import { DatabaseError } from 'pg';
import { AppError, DatabaseUnreachable } from '../errors.ts';

/**
 * SQLSTATE classes and codes of a server that went away, is not up yet, has no connection left, or closed the
 * connection of a process that was stopped in the middle of a transaction.
 */
const LOST_STATES = /^(08...|57P0[1235]|53300|25P03)$/;
const LOST_SOCKETS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
]);
/** pg's own errors of a broken connection have neither a code nor a class: only their texts identify them. */
const LOST_TEXTS = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  'timeout exceeded when trying to connect',
];

/**
 * Returns DatabaseUnreachable, with the error as its cause, where the error means that the connection to Postgres
 * was lost or could not be made; every other error as it is.
 */
export function asDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError || !isLost(error)) return error;
  return new DatabaseUnreachable('the connection to the database was lost: check that Postgres runs', {
    cause: error,
  });
}

function isLost(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof DatabaseError) return LOST_STATES.test(code);
  return LOST_SOCKETS.has(code) || LOST_TEXTS.some((text) => error.message.startsWith(text));
}
