// Loads rows that the database refused together: those that it refuses by themselves become rejected records, and hold
// up no other. A constraint, a trigger or an index that an administrator added refuses values that the contract allows.
//
// Decision: only after a refusal, in a transaction that begins anew. Savepoints around every statement of every load
// would cost two round trips each, for what hardly ever happens.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { isOfTheRow, isStatementError, nameRefusal } from '../db/refusal.ts';
import { sliceRows } from '../records/batch-rows.ts';
import type { EncodedRows } from '../records/page-rows.ts';
import type { NestedRejection } from '../records/read-page.ts';
import type { Treatment } from '../records/treatment.ts';
import { readRow, type Upserted } from './load-statement.ts';

export interface SentApart {
  /** What became of the rows that were taken, statement by statement. */
  readonly upserted: readonly Upserted[];
  readonly refused: readonly NestedRejection[];
}

/** The names of our keys. */
const OWN_KEY = /_pkey$|__row_number_key$/;

/**
 * Returns whether the database refused a statement for the values of a row. A key of ours is none: which row has it
 * already is a fault of the tables.
 */
export function isRefusedRow(error: unknown): error is Error {
  return isStatementError(error) && isOfTheRow(error) && !OWN_KEY.test(error.constraint ?? '');
}

/**
 * Sends the rows, in halves where they are refused, down to single ones. A refused row becomes a rejection, with its
 * columns as the payload.
 *
 * Throws: every error that is not about the values of a row.
 */
export async function sendApart(
  trx: DatabaseTransaction,
  rows: EncodedRows,
  treatment: Treatment,
  send: (rows: EncodedRows) => Promise<Upserted>,
): Promise<SentApart> {
  await sql`savepoint apart`.execute(trx);
  try {
    const upserted = await send(rows);
    await sql`release savepoint apart`.execute(trx);
    return { upserted: [upserted], refused: [] };
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    await sql`rollback to savepoint apart`.execute(trx);
    if (rows.ids.length === 1) return { upserted: [], refused: [await reject(trx, rows, treatment, error)] };
  }
  const middle = rows.ids.length >> 1;
  const first = await sendApart(trx, sliceRows(rows, 0, middle), treatment, send);
  const second = await sendApart(trx, sliceRows(rows, middle, rows.ids.length), treatment, send);
  return {
    upserted: [...first.upserted, ...second.upserted],
    refused: [...first.refused, ...second.refused],
  };
}

async function reject(
  trx: DatabaseTransaction,
  rows: EncodedRows,
  treatment: Treatment,
  error: Error,
): Promise<NestedRejection> {
  const { table } = rows;
  const id = rows.ids[0] ?? null;
  const { payload, observedAt } = await readRow(trx, rows);
  const reason = `the database refused it (${nameRefusal(error)})`;
  return { table, id, reason, payload: treatment.treatRefused(id, payload), observedAt };
}
