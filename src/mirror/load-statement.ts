// What every statement of a load has in common: the rows that it sends, how it inserts them, and what it returns.

import { CompiledQuery } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { COLUMN_NAMES, COLUMN_TYPES, type MirroredTable } from '../records/mirrored-tables.ts';
import type { EncodedRows } from '../records/page-rows.ts';

export interface RowShape {
  readonly table: MirroredTable;
  /** The places of the columns that the rows have, that of the id among them. */
  readonly places: readonly number[];
  /** Whether any row has fields that the contract does not know. */
  readonly hasExtra: boolean;
}

/**
 * The row that is returned: counts, and for a load of a run the numbers of rows of its own list; else those are empty.
 */
export interface Upserted {
  readonly inserted: number;
  readonly updated: number;
  readonly inserted_numbers: readonly number[];
  readonly updated_numbers: readonly number[];
  /** Of every row that was there before, changed or not. */
  readonly met_numbers: readonly number[];
}

/** A subquery of its own, so that it is asked at most once, and only by a statement that has something to write. */
export const STAMP = '(select stamp_changes())';

/** Returns the columns that the rows have, without the mirror's own. */
export function columnsOf({ table, places }: RowShape): readonly string[] {
  return places.map((place) => COLUMN_NAMES[table][place] ?? '');
}

/**
 * Returns the query of the rows that are sent.
 *
 * Shape: its parameters are one array per column in order, then the extras (where there are any), then the observations
 * in timestamptz.
 */
export function incomingRows(shape: RowShape): string {
  const columns = columnsOf(shape);
  const types = COLUMN_TYPES[shape.table];
  const arrays = columns.map((column, index) => `unnest($${index + 1}::${types[column]}[]) as ${column}`);
  let parameter = columns.length;
  if (shape.hasExtra) arrays.push(`unnest($${++parameter}::jsonb[]) as _extra`);
  arrays.push(`unnest($${++parameter}::timestamptz[]) as _observed_at`);
  return `select ${arrays.join(', ')}`;
}

/**
 * Returns the command that inserts the rows of `source`, to which a condition may be added; the table is `kept`.
 * `stamp` is what a row that is inserted gets as its _changed_at.
 */
export function insertFrom(source: string, shape: RowShape, stamp = STAMP): string {
  const columns = [...columnsOf(shape), ...(shape.hasExtra ? ['_extra'] : [])].join(', ');
  return `insert into ${shape.table} as kept (${columns}, _first_seen_at, _changed_at, _observed_at)
    select ${columns}, _observed_at, ${stamp}, _observed_at from ${source}`;
}

/** Sends the rows with the statement, and returns what became of them. Throws: the errors of the database. */
export async function sendRows(trx: DatabaseTransaction, text: string, rows: EncodedRows): Promise<Upserted> {
  const answer = await trx.executeQuery<Upserted>(CompiledQuery.raw(text, parametersOf(rows)));
  return onlyRow(answer, `the load of ${rows.table}`);
}

/** Returns the columns of a single row, and when it was observed. Throws: the errors of the database. */
export async function readRow(
  trx: DatabaseTransaction,
  rows: EncodedRows,
): Promise<{ readonly payload: unknown; readonly observedAt: Timestamp }> {
  const incoming = incomingRows({ ...rows, hasExtra: rows.extras !== null });
  const text = `select to_jsonb(incoming) - '_observed_at' as payload, _observed_at as "observedAt" from (${incoming}) incoming`;
  const answer = await trx.executeQuery<{ payload: unknown; observedAt: Timestamp }>(
    CompiledQuery.raw(text, parametersOf(rows)),
  );
  return onlyRow(answer, `a row of ${rows.table}`);
}

function parametersOf({ columns, extras, observedAt }: EncodedRows): Buffer[] {
  return [...columns, ...(extras === null ? [] : [extras]), observedAt];
}
