// Commits a batch of a run in one transaction: rows, identifiers that were met, figures and checkpoint.

import { beginSpan, inSpan } from '../base/span.ts';
import type { ListedResource } from '../contract/resources.ts';
import type { Checkpoint, Loaded } from '../crawl/page.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import type { DecodedPage } from '../decode/decode-page.ts';
import type { Account, AnsweredIds } from '../mirror/account.ts';
import { type LoadCounts, loadBatch } from '../mirror/load-batch.ts';
import { restartWalk } from '../mirror/runs/open-run.ts';
import type { SeenRows } from '../mirror/runs/seen-rows.ts';
import { type SyncRun, saveProgress } from '../mirror/runs/sync-runs.ts';
import { type FirstLoad, isRefusedRow } from '../mirror/send-rows.ts';
import type { SyncProgress } from './run-summary.ts';

/** The decoded records of a page, or of a request for one record. */
export interface Content {
  readonly content: DecodedPage;
  /** The step that read it, for the trace. */
  readonly reference: string | null;
}

/** How far the run's own walk has come with the pages. */
export interface WalkState {
  readonly checkpoint: Checkpoint;
  /** The API's last total. */
  readonly total: number | null;
}

export interface RunLoader {
  /**
   * Commits the contents. Without `walk` they belong to a part of the list, and the checkpoint stays. `pages` is the
   * number of pages; left out, each content is one.
   */
  load(contents: readonly Content[], walk?: WalkState, pages?: number): Promise<Loaded>;
  /** To be called with every request; the count is saved with the next batch. */
  readonly countRequest: () => void;
  readonly unsavedRequests: () => number;
  /** Saves the count of requests, and that the run is alive. Throws: Busy as `restart`. */
  readonly saveRequests: () => Promise<void>;
  /**
   * Begins the list a second time: no record counts as met, and unchanged rows count as repeated.
   *
   * Throws: Busy if the run has ended, or another process has taken it over.
   */
  readonly restart: () => Promise<void>;
  /** The rows that the run has met. */
  readonly seen: SeenRows;
}

export interface RunLoaderDeps {
  readonly db: Database;
  /** Null if the user has accepted that the API has other records than the mirror. */
  readonly account: Account | null;
  readonly run: SyncRun;
  readonly resource: ListedResource;
  /** The rows that earlier attempts of the run have met. */
  readonly seen: SeenRows;
  readonly firstLoad: FirstLoad;
  readonly signal: AbortSignal | undefined;
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
}

const NO_ROWS: LoadCounts = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };

/** Returns the loader of one run, or of its resumption. */
export function makeRunLoader(deps: RunLoaderDeps): RunLoader {
  const { db, account, run, resource, seen, firstLoad, signal, onProgress } = deps;
  let requests = 0;
  const countRequest = () => {
    requests += 1;
  };
  let isSecondReading = false;
  let checkpoint: object | null = run.checkpoint;

  async function commit(contents: readonly Content[], walk: WalkState | undefined, pages: number) {
    const counted = requests;
    const answered = contents.map(({ content }) => content);
    await account?.confirm(answered.values().map(idsOf), {
      ...(signal && { signal }),
      onRequest: countRequest,
    });
    const reached = walk?.checkpoint ?? checkpoint;
    const write = async (trx: DatabaseTransaction, isInHalves: boolean) => {
      const batch = { run: { id: run.id, seen, firstLoad }, resource, pages: answered, isInHalves };
      const result = await loadBatch(trx, batch);
      const repeated = result.repeated + result.unchanged;
      const rows = isSecondReading ? { ...result, unchanged: 0, repeated } : result;
      const saved = await saveProgress(trx, run, {
        requests: counted,
        pages,
        rows,
        distinct: result.fresh,
        totalUpstream: walk?.total ?? null,
        checkpoint: reached,
      });
      return { result, rows, saved };
    };
    const loadOnce = (isInHalves: boolean) =>
      transact(
        db,
        (trx) => write(trx, isInHalves),
        () => beginSpan('commit'),
      );
    const written = await loadOnce(false).catch((error: unknown) => {
      if (!isRefusedRow(error)) throw error;
      return loadOnce(true);
    });
    const { result, rows, saved } = written;
    seen.add(result.met);
    checkpoint = reached;
    requests -= counted;
    onProgress?.({
      resource,
      requests: saved.requests,
      pages: saved.pages,
      rows: rowCounts(saved),
      batch: rows,
      total: saved.total_upstream,
    });
    return { rows: result, loaded: { distinct: saved.distinct_seen, fresh: result.fresh } };
  }

  return {
    load(contents, walk, pages = contents.length) {
      const links = contents.map(({ reference }) => reference);
      return inSpan('load', { attributes: { resource, pages }, links }, async (span) => {
        const { rows, loaded } = await commit(contents, walk, pages);
        span.set({
          rows: rows.seen,
          inserted: rows.inserted,
          updated: rows.updated,
          rejected: rows.rejected,
        });
        return loaded;
      });
    },
    countRequest,
    unsavedRequests: () => requests,
    saveRequests: async () => {
      const progress = { requests, pages: 0, rows: NO_ROWS, distinct: 0, totalUpstream: null, checkpoint };
      await saveProgress(db, run, progress);
      requests = 0;
    },
    restart: async () => {
      await restartWalk(db, run);
      checkpoint = null;
      seen.clear();
      isSecondReading = true;
    },
    seen,
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

function idsOf({ rows }: DecodedPage): AnsweredIds {
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return new Map([...byTable].map(([table, groups]) => [table, groups.flatMap(({ ids }) => ids)]));
}
