// Whether a failed write is due to the row that was written, or would hit every row. A row that Postgres refuses must
// not hold up the others, and an unreachable database must not count against a row. Nor must a number that Postgres
// gave the row, and that another row has.

import { DatabaseError } from 'pg';
import { isNumberTaken } from './identities.ts';

/**
 * Classes of SQLSTATE that say nothing about what a statement carries: connection, transaction state (an idle or a
 * read-only one), deadlock or serialization, resources, locks, operator (a shutdown, a timeout), system.
 * Source: PostgreSQL manual, appendix A.
 */
const PASSING = /^(08|25|40|53|55|57|58)/;

/**
 * Those that are about the values of a row: cardinality, data, constraints, check options, limits (an index entry that
 * is too long, JSON nested too deeply), and what a trigger raises. Missing tables and rights would hit every row.
 */
const OF_VALUES = /^(21|22|23|44|54|P0)/;

/** What our own code throws for a value that it cannot read or encode, such as a record nested too deeply. */
const UNREADABLE = [RangeError, TypeError];

/** Returns whether the write was refused: the same, written again, would be refused again. */
export function isRefusal(error: unknown): boolean {
  if (isUnreadable(error)) return true;
  return isStatementError(error) && !PASSING.test(error.code ?? '') && !isNumberTaken(error);
}

/** Returns whether it was refused for its own values, so that other rows may well be written. */
export function isOfTheRow(error: unknown): error is Error {
  if (isUnreadable(error)) return true;
  return isStatementError(error) && OF_VALUES.test(error.code ?? '') && !isNumberTaken(error);
}

/** Returns whether it is Postgres' own answer to a statement. */
export function isStatementError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

function isUnreadable(error: unknown): boolean {
  return UNREADABLE.some((kind) => error instanceof kind);
}
