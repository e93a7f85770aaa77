// The records that a run has met, and which of them a batch met for the first time. A record is met as a row or as a
// rejection, and counts once even if it was first one and then the other.
//
// In memory: one bit for each row of the table, by the number that the row got when it was first stored; the
// identifiers of rejected records, which may have no row; and the links that were not named. In the database: the
// additions of each batch, so that a killed run can go on.
//
// Measured on 100,000 referrals: a table with an index over the identifiers took 570 ms of Postgres' time, this 10.

import { CompiledQuery, sql } from 'kysely';
import type { ListedResource } from '../../contract/resources.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import type { Rejection } from '../../decode/rejection-reason.ts';
import type { Upserted } from '../load-statements.ts';
import type { FirstLoad } from '../send-rows.ts';

/** For a million rows; it grows with the table. */
const FIRST_BYTES = 128 * 1024;

export interface SeenRows {
  has(rowNumber: number): boolean;
  add(newly: NewlySeen): void;
  clear(): void;
  /** As Postgres' `get_bit` counts them: bit n is row n. */
  bits(): Buffer;
  /** Identifiers of records that were rejected. */
  readonly rejected: ReadonlySet<string>;
  /** Links that an affiliate has in the mirror and did not name, by their identifiers. */
  readonly unnamedLinks: ReadonlyMap<string, UnnamedLink>;
}

export function makeSeenRows(): SeenRows {
  let bytes = Buffer.alloc(FIRST_BYTES);
  const rejected = new Set<string>();
  const unnamedLinks = new Map<string, UnnamedLink>();
  const grow = (place: number) => {
    const larger = Buffer.alloc(Math.max(bytes.length * 2, place + 1));
    bytes.copy(larger);
    bytes = larger;
  };
  return {
    has(rowNumber) {
      const byte = bytes[Math.floor(rowNumber / 8)] ?? 0;
      return (byte & (1 << (rowNumber % 8))) !== 0;
    },
    add({ rowNumbers, rejectedIds, unnamedLinks: links }) {
      for (const rowNumber of rowNumbers) {
        const place = Math.floor(rowNumber / 8);
        if (place >= bytes.length) grow(place);
        bytes[place] = (bytes[place] ?? 0) | (1 << (rowNumber % 8));
      }
      for (const id of rejectedIds) rejected.add(id);
      for (const link of links) unnamedLinks.set(link.id, link);
    },
    clear() {
      bytes = Buffer.alloc(FIRST_BYTES);
      rejected.clear();
      unnamedLinks.clear();
    },
    bits: () => bytes,
    rejected,
    unnamedLinks,
  };
}

/** Returns the rows that earlier attempts of the run have met. */
export async function readSeenRows(database: Database, runId: number): Promise<SeenRows> {
  const seen = makeSeenRows();
  const batches = await database
    .selectFrom('seen_rows')
    .select(['row_numbers', 'rejected_ids', 'unnamed_links'])
    .where('run_id', '=', runId)
    .execute();
  for (const { row_numbers, rejected_ids, unnamed_links } of batches) {
    seen.add({ rowNumbers: row_numbers, rejectedIds: rejected_ids, unnamedLinks: unnamed_links });
  }
  return seen;
}

/** The records that the run met for the first time in a batch. */
export interface NewlySeen {
  readonly rowNumbers: readonly number[];
  readonly rejectedIds: readonly string[];
  readonly unnamedLinks: readonly UnnamedLink[];
}

/** A link that its affiliate in the mirror did not name: it is deleted, unless another affiliate names it. */
export interface UnnamedLink {
  readonly id: string;
  readonly affiliateId: string;
  readonly observedAt: Timestamp;
}

export async function saveSeenRows(
  trx: DatabaseTransaction,
  runId: number,
  { rowNumbers, rejectedIds, unnamedLinks }: NewlySeen,
): Promise<void> {
  await trx.executeQuery(
    CompiledQuery.raw(
      `insert into seen_rows (run_id, row_numbers, rejected_ids, unnamed_links)
       values ($1, $2::bigint[], $3::text[], $4::jsonb)`,
      [runId, `{${rowNumbers.join(',')}}`, rejectedIds, JSON.stringify(unnamedLinks)],
    ),
  );
}

/**
 * Returns the number of stored records; one that was rejected and fits later counts twice. If it is lower than the
 * run's figure, a crash of Postgres emptied the table, even if the run stored more since.
 */
export async function countSeen(database: Database, runId: number): Promise<number> {
  const { count } = await database
    .selectFrom('seen_rows')
    .select(
      sql<number>`coalesce(sum(cardinality(row_numbers) + cardinality(rejected_ids)), 0)::bigint`.as('count'),
    )
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Idempotent: yes. */
export async function forgetSeenRows(trx: DatabaseTransaction, runId: number): Promise<void> {
  await trx.deleteFrom('seen_rows').where('run_id', '=', runId).execute();
}

/** The run that a load belongs to. */
export interface LoadRun {
  readonly id: number;
  /** The records that it met before; the caller adds those of the load once it is committed. */
  readonly seen: SeenRows;
  readonly firstLoad: FirstLoad;
}

export interface BatchRecords {
  /** Identifiers of the records that fit. */
  readonly valid: ReadonlySet<string>;
  readonly rejections: readonly Rejection[];
  /** The results of the statements that loaded the rows of those. */
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

/** Returns the records that the run meets for the first time. To be called once the rows are written. */
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
  // As a rule no record is rejected now or was before, and no query is needed.
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
