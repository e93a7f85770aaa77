// Commits what a run read: rows, what was seen, figures and checkpoint, all in one transaction.

import type { ApiClient } from '../api/client.ts';
import type { Filters, ListedResource } from '../contract/resources.ts';
import type { Checkpoint, CrawlDeps, Loaded } from '../crawl/page.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import type { Account, AnsweredIds } from '../mirror/account.ts';
import type { FirstLoad } from '../mirror/first-load.ts';
import { isRefusedRow } from '../mirror/load-apart.ts';
import { type LoadCounts, type LoadResult, loadBatch } from '../mirror/load-batch.ts';
import { restartWalk } from '../mirror/runs/open-run.ts';
import type { SeenRows } from '../mirror/runs/seen-rows.ts';
import { type SyncRun, saveProgress } from '../mirror/runs/sync-runs.ts';
import { makeDriftWatch } from '../records/drift-watch.ts';
import { makeFormReader } from '../records/form-reader.ts';
import { makeLoadedCache } from '../records/loaded-cache.ts';
import { type ObservedPage, type ReadPages, readPages } from '../records/read-page.ts';
import type { Treatment } from '../records/treatment.ts';
import { beginSpan, inSpan, type Span } from '../tracing/span.ts';
import { makeListPage, type RecordPage } from './list-resource.ts';
import type { SyncProgress } from './run-summary.ts';

export interface RunLoader {
  /**
   * Returns the function by which a walk lists a resource, narrowed by the filters. Its pages are to be loaded in the
   * order in which they are asked for, or the run is to end: what was read counts as loaded (see loaded-cache.ts).
   * Every request counts, and is saved with the next batch. `look` is called with each page's records before they are
   * read.
   */
  readonly lister: <R extends ListedResource>(
    resource: R,
    filters?: Filters<R>,
    look?: (records: readonly unknown[]) => void,
  ) => CrawlDeps<RecordPage>['listPage'];
  readonly load: (pages: readonly RecordPage[], checkpoint: Checkpoint) => Promise<Loaded>;
  /** Loads pages of a filtered list: neither the walk's checkpoint nor the list's total moves. */
  readonly loadAside: (pages: readonly RecordPage[]) => Promise<Loaded>;
  /** Loads records that were read one by one. */
  readonly loadSingle: (records: readonly ObservedPage[]) => Promise<Loaded>;
  /** To be called with every request that is not the lister's; what was counted is saved with the next batch. */
  readonly countRequest: () => void;
  readonly unsavedRequests: () => number;
  /** Saves the requests that no batch has saved, and that the run is alive. Throws: Busy as `readAgain`. */
  readonly saveRequests: () => Promise<void>;
  /**
   * Forgets what was met, since the list is read a second time; what does not change then counts as repeated.
   *
   * Throws: Busy where the run has ended already, or another process has taken it over.
   */
  readonly readAgain: () => Promise<void>;
  /** The rows that the run has met. */
  readonly seen: SeenRows;
  readonly drift: ReturnType<typeof makeDriftWatch>;
}

export interface RunLoaderDeps {
  readonly api: ApiClient;
  readonly db: Database;
  /** Null where a person has accepted that the API has other records than the mirror. */
  readonly account: Account | null;
  readonly treatment?: Treatment | undefined;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
}

/** What the run met before: nothing, or what its earlier attempts did. */
export interface MetBefore {
  readonly seen: SeenRows;
  readonly firstLoad: FirstLoad;
}

type LoadablePage = Pick<RecordPage, 'content' | 'reference'>;

/** What is saved with the rows. */
interface WalkState {
  readonly checkpoint: object | null;
  readonly total: number | null;
  readonly pages: number;
}

/** Returns the loader of one run, or of its resumption. */
export function makeRunLoader(
  { api, db, account, treatment, onProgress }: RunLoaderDeps,
  {
    run,
    resource,
    before,
    signal,
  }: { run: SyncRun; resource: ListedResource; before: MetBefore; signal: AbortSignal | undefined },
): RunLoader {
  const cache = makeLoadedCache();
  const drift = makeDriftWatch();
  const recordReader = makeFormReader(resource, cache);
  const readPage = (page: ObservedPage) => readPages({ cache, drift, treatment }, resource, [page]);
  let requests = 0;
  const countRequest = () => {
    requests += 1;
  };
  const { seen, firstLoad } = before;
  let isSecondReading = false;
  let checkpoint: object | null = run.checkpoint;

  function commit(pages: readonly LoadablePage[], walk: WalkState): Promise<Loaded> {
    const links = pages.map(({ reference }) => reference);
    const start = { attributes: { resource, pages: walk.pages }, links };
    return inSpan('load', start, (span) => load(pages, walk, span));
  }

  async function load(pages: readonly LoadablePage[], walk: WalkState, span: Span): Promise<Loaded> {
    const counted = requests;
    const contents = pages.map(({ content }) => content);
    await account?.confirm(contents.values().map(idsOf), {
      ...(signal && { signal }),
      onRequest: countRequest,
    });
    const loadOnce = (isApart: boolean) =>
      transact(
        db,
        (trx) => write(trx, isApart),
        () => beginSpan('commit'),
      );
    const { result, rows, saved } = await loadOnce(false).catch((error: unknown) => {
      if (!isRefusedRow(error)) throw error;
      return loadOnce(true);
    });
    async function write(trx: DatabaseTransaction, isApart: boolean) {
      const result = await loadBatch(trx, {
        run: { id: run.id, seen, firstLoad },
        resource,
        pages: contents,
        isApart,
      });
      const rows = isSecondReading ? asRepeated(result) : result;
      const saved = await saveProgress(trx, run, {
        requests: counted,
        pages: walk.pages,
        rows,
        distinct: result.fresh,
        totalUpstream: walk.total,
        checkpoint: walk.checkpoint,
      });
      return { result, rows, saved };
    }
    seen.add(result.met);
    const { seen: loaded, inserted, updated, rejected } = result;
    span.set({ rows: loaded, inserted, updated, rejected });
    checkpoint = walk.checkpoint;
    requests -= counted;
    onProgress?.({
      resource,
      requests: saved.requests,
      pages: saved.pages,
      rows: rowCounts(saved),
      batch: loadCounts(rows),
      total: saved.total_upstream,
    });
    return { distinct: saved.distinct_seen, fresh: result.fresh };
  }

  return {
    lister: (listed, filters, look) =>
      makeListPage({ api, onRequest: countRequest, readPage, recordReader }, listed, filters, look),
    load: (pages, after) =>
      commit(pages, { checkpoint: after, total: pages.at(-1)?.total ?? null, pages: pages.length }),
    loadAside: (pages) => commit(pages, { checkpoint, total: null, pages: pages.length }),
    loadSingle: (records) =>
      commit(
        records.map((record) => ({ content: readPage(record), reference: null })),
        { checkpoint, total: null, pages: 0 },
      ),
    countRequest,
    unsavedRequests: () => requests,
    saveRequests: async () => {
      const none = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };
      const progress = { requests, pages: 0, rows: none, distinct: 0, totalUpstream: null, checkpoint };
      await saveProgress(db, run, progress);
      requests = 0;
    },
    readAgain: async () => {
      await restartWalk(db, run);
      seen.clear();
      isSecondReading = true;
    },
    seen,
    drift,
  };
}

/** Returns the row counts of a run of the run log. */
export function rowCounts(run: SyncRun): LoadCounts {
  return {
    seen: run.rows_seen,
    inserted: run.rows_inserted,
    updated: run.rows_updated,
    unchanged: run.rows_unchanged,
    rejected: run.rows_rejected,
    repeated: run.rows_repeated,
  };
}

function idsOf({ rows }: ReadPages): AnsweredIds {
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return new Map([...byTable].map(([table, groups]) => [table, groups.flatMap(({ ids }) => ids)]));
}

function loadCounts({ seen, inserted, updated, unchanged, rejected, repeated }: LoadCounts): LoadCounts {
  return { seen, inserted, updated, unchanged, rejected, repeated };
}

function asRepeated(result: LoadResult): LoadResult {
  return { ...result, unchanged: 0, repeated: result.repeated + result.unchanged };
}
