// Loads pages in a transaction of their own, and reads a table back.

import { sql } from 'kysely';
import type { ListedResource } from '../../src/contract/resources.ts';
import type { Database } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { type Decoding, decodePage, type ParsedRecords } from '../../src/decode/decode-page.ts';
import type { DriftWatch } from '../../src/decode/drift-watch.ts';
import type { MirroredTable } from '../../src/decode/mirrored-tables.ts';
import { PLAIN, type Treatment } from '../../src/decode/treatment.ts';
import { type LoadResult, loadBatch } from '../../src/mirror/load-batch.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { readSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { type FirstLoad, makeFirstLoad } from '../../src/mirror/send-rows.ts';
import { pageBytes } from './page-bytes.ts';

/** Returns the timestamp `second` seconds after the start of 2026-07. */
export function at(second: number): string {
  return new Date(Date.UTC(2026, 6, 1) + second * 1000).toISOString();
}

export interface LoadedPages {
  readonly resource: ListedResource;
  readonly pages: readonly ParsedRecords[];
  /** Of a run that rejects records, and goes on as if it were resumed at each load. */
  readonly runId?: number;
  /** Of a run: decodes the pages from their bytes, and remembers what is nested in them. */
  readonly decoding?: Decoding;
  readonly drift?: DriftWatch;
  /** Outside a run; all is kept where it is left out. */
  readonly treatment?: Treatment;
  readonly touch?: boolean;
  /** Of the run; ended as a rule. */
  readonly firstLoad?: FirstLoad;
}

/** Reads the pages, loads them, commits, and returns the counts. */
export async function load(database: Database, input: LoadedPages): Promise<LoadResult> {
  const { resource, runId, drift = null, treatment = PLAIN, touch = false } = input;
  const decoding = input.decoding ?? { resource, drift, treatment, fast: null };
  if (runId === undefined) {
    const [first, ...more] = input.pages;
    if (decoding.fast !== null && more.length > 0) throw new TypeError('outside a run, bytes are one page');
    const read = decoding.fast && first ? decode(decoding, first) : decodePage(decoding, input.pages);
    return database
      .transaction()
      .execute((trx) => loadBatch(trx, { run: null, resource, pages: [read], touch }));
  }
  if (resource === 'commissions') throw new TypeError('no run lists commissions');
  const { firstLoad = makeFirstLoad(false) } = input;
  const run = { id: runId, seen: await readSeenRows(database, runId), firstLoad };
  // Page by page, as they come.
  const pages = input.pages.map((page) => decode(decoding, page));
  return transact(database, (trx) => loadBatch(trx, { run, resource, pages }));
}

function decode(decoding: Decoding, page: ParsedRecords) {
  if (decoding.fast === null) return decodePage(decoding, [page]);
  const decoded = decodePage(decoding, pageBytes(page.records, page.observedAt));
  if (decoded === null) throw new TypeError('the page is no list');
  return decoded.data;
}

/** Marks the records deleted, outside a run as a rule, and returns how many were marked. */
export function bury(
  database: Database,
  resource: ListedResource,
  ids: readonly string[],
  observedAt: string,
  runId: number | null = null,
): Promise<number> {
  return transact(database, (trx) => markDeleted(trx, { runId, resource, ids, observedAt }));
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
