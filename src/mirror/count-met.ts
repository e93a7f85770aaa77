// Finds out which of a batch's records the run meets for the first time. A record is met as a row or as a rejection,
// and counts once even if it was first one and then the other.

import { sql } from 'kysely';
import type { ListedResource } from '../contract/resources.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import type { Rejection } from '../records/rejection-reason.ts';
import type { FirstLoad } from './first-load.ts';
import type { Upserted } from './load-statement.ts';
import type { NewlySeen, SeenRows } from './runs/seen-rows.ts';

/** The run that a load belongs to. */
export interface LoadRun {
  readonly id: number;
  /** What it has met before; whoever commits adds to it what the load met. */
  readonly seen: SeenRows;
  readonly firstLoad: FirstLoad;
}

export interface BatchRecords {
  /** Identifiers of the records that fit. */
  readonly valid: ReadonlySet<string>;
  readonly rejections: readonly Rejection[];
  /** What became of the rows of those that fit, statement by statement. */
  readonly upserted: readonly Upserted[];
}

export interface Met extends Omit<NewlySeen, 'unnamedLinks'> {
  /** Records that fit and that the run had not met before. */
  readonly freshValid: number;
  /** Records with an identifier that were rejected, and that the run had not met before. */
  readonly freshRejected: number;
  /** Rows that were written, though the run had met their record before. */
  readonly writtenAgain: number;
}

/** Returns what the run meets for the first time. To be called once the rows are written. */
export async function countMet(
  trx: DatabaseTransaction,
  { run, resource }: { run: LoadRun | null; resource: ListedResource },
  { valid, rejections, upserted }: BatchRecords,
): Promise<Met> {
  const rejected = new Set(rejections.flatMap(({ id }) => id ?? []));
  for (const id of valid) rejected.delete(id);
  if (run === null) {
    const fresh = { freshValid: valid.size, freshRejected: rejected.size };
    return { rowNumbers: [], rejectedIds: [], ...fresh, writtenAgain: 0 };
  }
  const { seen } = run;
  // As a rule nothing is rejected now or was before, and there is nothing to look up.
  const wereRejected = seen.rejected.size === 0 ? [] : [...valid].filter((id) => seen.rejected.has(id));
  const numbers = await readRowNumbers(trx, resource, [...rejected, ...wereRejected]);
  const rejectedRows = new Set(wereRejected.map((id) => numbers.get(id)));
  const isMet = (number: number) => seen.has(number) || rejectedRows.has(number);
  const rejectedIds = [...rejected].filter((id) => !seen.rejected.has(id));
  const freshRejected = rejectedIds.filter((id) => {
    const number = numbers.get(id);
    return number === undefined || !seen.has(number);
  }).length;
  const newNumbers = new Set<number>();
  let freshValid = 0;
  let writtenAgain = 0;
  for (const { inserted_numbers, updated_numbers, met_numbers } of upserted) {
    // A number may also be from an earlier statement of the batch.
    for (const number of updated_numbers) if (isMet(number) || newNumbers.has(number)) writtenAgain += 1;
    for (const number of inserted_numbers) if (isMet(number)) writtenAgain += 1;
    for (const number of [...inserted_numbers, ...met_numbers]) {
      if (seen.has(number) || newNumbers.has(number)) continue;
      newNumbers.add(number);
      if (!rejectedRows.has(number)) freshValid += 1;
    }
  }
  return { rowNumbers: [...newNumbers], rejectedIds, freshValid, freshRejected, writtenAgain };
}

async function readRowNumbers(
  trx: DatabaseTransaction,
  resource: ListedResource,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const answer = await sql<{ id: string; _row_number: number }>`
    select id, _row_number from ${sql.table(resource)} where id = any(${ids}::text[])`.execute(trx);
  return new Map(answer.rows.map((row) => [row.id, row._row_number]));
}
