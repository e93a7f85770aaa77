// What the tests of the mirror do all the time: load pages in a transaction of their own, and read a table back.

import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { type LoadInput, type LoadResult, loadBatch } from '../../src/mirror/load-batch.ts';
import type { MirroredTable } from '../../src/mirror/mirrored-tables.ts';

/** Gives back the instant `second` seconds after the start of 2026-07. */
export function at(second: number): string {
  return new Date(Date.UTC(2026, 6, 1) + second * 1000).toISOString();
}

/** Loads the pages, commits, and gives back the counts. */
export async function load(
  database: Database,
  input: Omit<LoadInput, 'runId'> & { runId?: number | null },
): Promise<LoadResult> {
  const result = await database.transaction().execute((trx) => loadBatch(trx, { runId: null, ...input }));
  result.afterCommit();
  return result;
}

/** Gives back the counts alone. */
export function counts({ seen, inserted, updated, unchanged, rejected, repeated }: LoadResult) {
  return { seen, inserted, updated, unchanged, rejected, repeated };
}

/** Gives back every row of a table, ordered by id. */
export async function rowsOf(
  database: Database,
  table: MirroredTable,
): Promise<Readonly<Record<string, unknown>>[]> {
  const answer = await sql<Record<string, unknown>>`select * from ${sql.table(table)} order by id`.execute(
    database,
  );
  return answer.rows;
}
