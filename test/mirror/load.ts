// Loads pages in a transaction of their own, and reads a table back.

import { sql } from 'kysely';
import type { ListedResource } from '../../src/contract/resources.ts';
import type { Database } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { type FirstLoad, makeFirstLoad } from '../../src/mirror/first-load.ts';
import { type LoadResult, loadBatch } from '../../src/mirror/load-batch.ts';
import { readSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import type { DriftWatch } from '../../src/records/drift-watch.ts';
import type { LoadedCache } from '../../src/records/loaded-cache.ts';
import type { MirroredTable } from '../../src/records/mirrored-tables.ts';
import { type ObservedPage, readPages } from '../../src/records/read-page.ts';
import type { Treatment } from '../../src/records/treatment.ts';

/** Returns the timestamp `second` seconds after the start of 2026-07. */
export function at(second: number): string {
  return new Date(Date.UTC(2026, 6, 1) + second * 1000).toISOString();
}

export interface LoadedPages {
  readonly resource: ListedResource;
  readonly pages: readonly ObservedPage[];
  /** Of a run that rejects records, and goes on as if it were resumed at each load. */
  readonly runId?: number;
  readonly cache?: LoadedCache;
  readonly drift?: DriftWatch;
  /** Outside a run; all is kept where it is left out. */
  readonly treatment?: Treatment;
  readonly touch?: boolean;
  /** Of the run; ended as a rule. */
  readonly firstLoad?: FirstLoad;
}

/** Reads the pages, loads them, commits, and returns the counts. */
export async function load(database: Database, input: LoadedPages): Promise<LoadResult> {
  const { resource, runId, cache = null, drift = null, treatment, touch = false } = input;
  if (runId === undefined) {
    const read = readPages({ cache, drift, treatment }, resource, input.pages);
    return database
      .transaction()
      .execute((trx) => loadBatch(trx, { run: null, resource, pages: [read], touch }));
  }
  if (resource === 'commissions') throw new TypeError('no run lists commissions');
  const { firstLoad = makeFirstLoad(false) } = input;
  const run = { id: runId, seen: await readSeenRows(database, runId), firstLoad };
  // Page by page, as they come.
  const pages = input.pages.map((page) => readPages({ cache, drift }, resource, [page]));
  return transact(database, (trx) => loadBatch(trx, { run, resource, pages }));
}

/** Returns the counts alone. */
export function counts({ seen, inserted, updated, unchanged, rejected, repeated }: LoadResult) {
  return { seen, inserted, updated, unchanged, rejected, repeated };
}

/** Returns every row of a table, ordered by id. */
export async function rowsOf(
  database: Database,
  table: MirroredTable,
): Promise<Readonly<Record<string, unknown>>[]> {
  const answer = await sql<Record<string, unknown>>`select * from ${sql.table(table)} order by id`.execute(
    database,
  );
  return answer.rows;
}
