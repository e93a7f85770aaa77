// Which of a batch's records the run meets for the first time. A record is met as a row or as a rejection, and counts
// once though it was one and then the other. Knows no page.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import type { LoadedResource } from './read-page.ts';
import type { Rejection } from './rejected-records.ts';
import type { SeenRows } from './seen-rows.ts';
import type { Upserted } from './upsert-statement.ts';

/** The run that a load belongs to. */
export interface LoadRun {
  readonly id: number;
  /** The rows that it has met before; the load adds to them once its transaction is committed. */
  readonly seen: SeenRows;
  /** Whether it may have rejected records before. */
  readonly hasRejected: boolean;
}

export interface BatchRecords {
  /** Identifiers of the records that fit. */
  readonly valid: ReadonlySet<string>;
  readonly rejections: readonly Rejection[];
  /** What became of the rows of those that fit, statement by statement. */
  readonly upserted: readonly Upserted[];
}

export interface Met {
  /** Rows that the run has not met as rows. */
  readonly newNumbers: readonly number[];
  /** Records that fit and that the run has met as nothing before. */
  readonly freshValid: number;
  /** Records with an identifier that were rejected, and that the run has met as nothing before. */
  readonly freshRejected: number;
  /** Rows that were written, though the run had met their record before. */
  readonly writtenAgain: number;
}

/** Gives back what is met first. To be called when the rows are written and the rejections are not. */
export async function countMet(
  trx: DatabaseTransaction,
  { run, resource }: { run: LoadRun | null; resource: LoadedResource },
  { valid, rejections, upserted }: BatchRecords,
): Promise<Met> {
  const rejected = new Set(rejections.flatMap(({ id }) => id ?? []));
  for (const id of valid) rejected.delete(id);
  if (run === null) {
    return { newNumbers: [], freshValid: valid.size, freshRejected: rejected.size, writtenAgain: 0 };
  }
  const { seen } = run;
  // As a rule nothing was ever rejected, and nobody need be asked.
  const ids = run.hasRejected ? [...rejected, ...valid] : [...rejected];
  const histories = ids.length === 0 ? [] : await readHistories(trx, { runId: run.id, resource }, ids);
  const wasRejected = new Set<number>();
  let freshRejected = 0;
  for (const { id, row_number, was_rejected } of histories) {
    if (was_rejected && row_number !== null) wasRejected.add(row_number);
    const isMetRow = row_number !== null && seen.has(row_number);
    if (rejected.has(id) && !was_rejected && !isMetRow) freshRejected += 1;
  }
  const isMet = (number: number) => seen.has(number) || wasRejected.has(number);
  const newNumbers = new Set<number>();
  let freshValid = 0;
  let writtenAgain = 0;
  for (const { inserted_numbers, updated_numbers, met_numbers } of upserted) {
    // Of an earlier statement of the batch as well.
    for (const number of updated_numbers) if (isMet(number) || newNumbers.has(number)) writtenAgain += 1;
    for (const number of inserted_numbers) if (isMet(number)) writtenAgain += 1;
    for (const number of [...inserted_numbers, ...met_numbers]) {
      if (seen.has(number) || newNumbers.has(number)) continue;
      newNumbers.add(number);
      if (!wasRejected.has(number)) freshValid += 1;
    }
  }
  return { newNumbers: [...newNumbers], freshValid, freshRejected, writtenAgain };
}

interface History {
  readonly id: string;
  readonly row_number: number | null;
  readonly was_rejected: boolean;
}

async function readHistories(
  trx: DatabaseTransaction,
  { runId, resource }: { runId: number; resource: LoadedResource },
  ids: readonly string[],
): Promise<readonly History[]> {
  // The expression of the index over rejections.
  const answer = await sql<History>`
    select asked.id, kept._row_number as row_number, exists (
      select from rejected_records
      where run_id = ${runId} and resource = ${resource} and coalesce(record_id, md5(payload::text)) = asked.id
    ) as was_rejected
    from unnest(${ids}::text[]) as asked (id)
    left join ${sql.table(resource)} kept on kept.id = asked.id`.execute(trx);
  return answer.rows;
}
