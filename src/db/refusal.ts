// Whether a failed write is due to the row that was written, or would hit every row. A row that Postgres refuses must
// not hold up the others, and an unreachable database must not count against a row.

import { DatabaseError } from 'pg';

/**
 * Classes of SQLSTATE that say nothing about what a statement carries: connection, transaction state (an idle or a
 * read-only one), deadlock or serialization, resources, locks, operator (a shutdown, a timeout), system.
 * Source: PostgreSQL manual, appendix A.
 */
const PASSING = /^(08|25|40|53|55|57|58)/;

/**
 * Those that would hit every row: what is missing, forbidden or not supported, states of a session, faults of the
 * server and of functions of ours. All others are about the values of a row: data, constraints, limits (an index entry
 * that is too long, JSON nested too deeply), and what a trigger raises, under any SQLSTATE that its author chose.
 */
const OF_EVERY_ROW = /^(0[ABFLPZ]|2[468D]|3[4BDF]|42|F0|HV|XX|P000[0234])/;

/** What our own code throws for a value that it cannot read or encode, such as a record nested too deeply. */
const UNREADABLE = [RangeError, TypeError];

/** Returns whether the write was refused: the same, written again, would be refused again. */
export function isRefusal(error: unknown): boolean {
  if (isUnreadable(error)) return true;
  return isStatementError(error) && !PASSING.test(error.code ?? '');
}

/** Returns whether it was refused for its own values, so that other rows may well be written. */
export function isOfTheRow(error: unknown): error is Error {
  if (isUnreadable(error)) return true;
  return isRefusal(error) && isStatementError(error) && !OF_EVERY_ROW.test(error.code ?? '');
}

/** Returns whether it is Postgres' own answer to a statement. */
export function isStatementError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

/** Returns what refused a row, in the names of the schema alone: Postgres' own words may quote the row's values. */
export function nameRefusal(error: unknown): string {
  if (!isStatementError(error)) return 'it cannot be encoded';
  const { code, constraint } = error;
  return constraint === undefined ? `SQLSTATE ${code}` : `${constraint}, SQLSTATE ${code}`;
}

function isUnreadable(error: unknown): boolean {
  return UNREADABLE.some((kind) => error instanceof kind);
}
