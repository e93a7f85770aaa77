// Commits what a run read: rows, what was seen, figures and checkpoint, all in one transaction.

import type { ApiClient } from '../api/client.ts';
import type { Filters, ListedResource } from '../contract/resources.ts';
import type { Checkpoint, CrawlDeps, Loaded } from '../crawl/page.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import type { Account, AnsweredIds } from '../mirror/account.ts';
import type { FirstLoad } from '../mirror/first-load.ts';
import { type LoadCounts, type LoadResult, loadBatch } from '../mirror/load-batch.ts';
import { restartWalk } from '../mirror/runs/open-run.ts';
import type { SeenRows } from '../mirror/runs/seen-rows.ts';
import { type SyncRun, saveProgress } from '../mirror/runs/sync-runs.ts';
import { makeDriftWatch } from '../records/drift-watch.ts';
import { makeFormReader } from '../records/form-reader.ts';
import { makeLoadedCache } from '../records/loaded-cache.ts';
import type { PersonalData } from '../records/personal-data.ts';
import { type ObservedPage, type ReadPages, readPages } from '../records/read-page.ts';
import { beginSpan, inSpan, type Span } from '../tracing/span.ts';
import { makeListPage, type RecordPage } from './list-resource.ts';
import type { SyncProgress } from './run-summary.ts';

export interface RunLoader {
  /**
   * Returns the function by which a walk lists a resource, narrowed by the filters. Its pages are to be loaded in the
   * order in which they are asked for, or the run is to end. Every request counts, and is saved with the next batch.
   * `look` is called with each page's records before they are read.
   */
  readonly lister: <R extends ListedResource>(
    resource: R,
    filters?: Filters<R>,
    look?: (records: readonly unknown[]) => void,
  ) => CrawlDeps<RecordPage>['listPage'];
  /** Throws, as the other two do: TypeError where these are not the next pages that were read and are not loaded. */
  readonly load: (pages: readonly RecordPage[], checkpoint: Checkpoint) => Promise<Loaded>;
  /** Loads pages of a filtered list: neither the walk's checkpoint nor the list's total moves. */
  readonly loadAside: (pages: readonly RecordPage[]) => Promise<Loaded>;
  /** Loads records that were read one by one. */
  readonly loadSingle: (records: readonly ObservedPage[]) => Promise<Loaded>;
  /**
   * Throws: TypeError where a page was read and not loaded; to be called once a walk ended otherwise than in an error.
   */
  readonly checkAllLoaded: () => void;
  /** To be called with every request that is not the lister's; what was counted is saved with the next batch. */
  readonly countRequest: () => void;
  readonly unsavedRequests: () => number;
  /** Saves the requests that no batch has saved, and that the run is alive. Throws: Busy as `readAgain`. */
  readonly saveRequests: () => Promise<void>;
  /** The run as it was last saved. */
  readonly saved: () => SyncRun;
  /** Whether the run rejected a record without a usable identifier: then no missing row is known to be gone. */
  readonly hasAnonymous: () => boolean;
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
  readonly personalData: PersonalData | null;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
}

/** What the run met before: nothing, or what its earlier attempts did. */
export interface MetBefore {
  readonly seen: SeenRows;
  /** Rejected records without a usable identifier. */
  readonly anonymous: number;
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
  { api, db, account, personalData, onProgress }: RunLoaderDeps,
  {
    run,
    resource,
    before,
    signal,
  }: { run: SyncRun; resource: ListedResource; before: MetBefore; signal: AbortSignal | undefined },
): RunLoader {
  let lastSaved = run;
  const cache = makeLoadedCache();
  const drift = makeDriftWatch();
  const recordReader = makeFormReader(resource, cache);
  /** What was read and is not loaded yet, in that order: the cache takes all of it for loaded. */
  const unloaded: ReadPages[] = [];
  const readPage = (page: ObservedPage) => {
    const content = readPages({ cache, drift, personalData }, resource, [page]);
    unloaded.push(content);
    return content;
  };
  let requests = 0;
  const countRequest = () => {
    requests += 1;
  };
  const { seen, firstLoad } = before;
  let anonymous = before.anonymous;
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
    if (contents.some((content, index) => content !== unloaded[index])) {
      throw new TypeError('pages are to be loaded in the order in which they were read');
    }
    await account?.confirm(contents.map(idsOf), { ...(signal && { signal }), onRequest: countRequest });
    const { result, rows, saved } = await transact(db, write, () => beginSpan('commit'));
    async function write(trx: DatabaseTransaction) {
      const result = await loadBatch(trx, {
        run: { id: run.id, seen, firstLoad },
        resource,
        pages: contents,
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
    lastSaved = saved;
    seen.add(result.met);
    unloaded.splice(0, contents.length);
    const { seen: loaded, inserted, updated, rejected } = result;
    span.set({ rows: loaded, inserted, updated, rejected });
    checkpoint = walk.checkpoint;
    requests -= counted;
    anonymous += result.anonymousRejected;
    onProgress?.({
      resource,
      requests: saved.requests,
      pages: saved.pages,
      rows: rowCounts(saved),
      batch: loadCounts(rows),
      total: saved.total_upstream,
    });
    // A record without an identifier exists all the same: it counts once, where it was rejected.
    return { distinct: saved.distinct_seen + anonymous, anonymous, fresh: result.fresh };
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
    checkAllLoaded: () => {
      if (unloaded.length > 0) throw new TypeError(`${unloaded.length} pages were read and not loaded`);
    },
    countRequest,
    unsavedRequests: () => requests,
    saveRequests: async () => {
      const none = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };
      const progress = { requests, pages: 0, rows: none, distinct: 0, totalUpstream: null, checkpoint };
      lastSaved = await saveProgress(db, run, progress);
      requests = 0;
    },
    saved: () => lastSaved,
    hasAnonymous: () => anonymous > 0,
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
