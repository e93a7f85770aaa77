// Keeps which records a run has met: in memory one bit for each row of the table, by the number that the row got when
// it was first stored, the identifiers of what was rejected, which may have no row, and the links that were not named;
// in the database what each batch added, so that a killed run can go on.
//
// Measured on 100,000 referrals: a table with an index over the identifiers took 570 ms of Postgres' time, this 10.

import { CompiledQuery, sql } from 'kysely';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';

/** A million rows' worth; it grows with the table. */
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

/** Returns an empty set. */
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

/** What a batch met first. */
export interface NewlySeen {
  readonly rowNumbers: readonly number[];
  readonly rejectedIds: readonly string[];
  readonly unnamedLinks: readonly UnnamedLink[];
}

/** A link that its affiliate in the mirror did not name: it is gone, unless another affiliate names it. */
export interface UnnamedLink {
  readonly id: string;
  readonly affiliateId: string;
  readonly observedAt: Timestamp;
}

/** Notes records as met in the run. */
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
 * Returns how many records are noted for the run, one that was rejected and fits later twice. Fewer than its figures
 * say means that a crash of Postgres emptied the table, even if the run went on and noted more since.
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

/** Deletes what the run has met. Idempotent: yes. */
export async function forgetSeenRows(trx: DatabaseTransaction, runId: number): Promise<void> {
  await trx.deleteFrom('seen_rows').where('run_id', '=', runId).execute();
}
