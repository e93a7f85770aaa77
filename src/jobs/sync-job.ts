// The job `sync`: one run of one resource, and whether its end means that the wanted work is done.

import type { ApiClient } from '../api/client.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { hasRunSince } from '../mirror/runs/whole-runs.ts';
import type { JobHandler } from '../queue/process-job.ts';
import type { Timings } from '../queue/timings.ts';
import { runSync } from '../sync/run-sync.ts';
import { asSyncPayload } from './catalogue.ts';

/** Another process's run is looked at again after half of the time waited so far, and after this at the latest. */
const LONGEST_WAIT_MS = 600_000;

export interface SyncJobDeps {
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
}

/**
 * Returns the handler. Where another process syncs the resource, the job waits for it, and is done as well if that
 * run did what was wanted. It does not count on that run: its worker may hang, and then the work would be lost.
 */
export function makeSyncJob(
  { api, db, log }: SyncJobDeps,
  { concurrency }: { concurrency: number },
  { stepAsideMs }: Pick<Timings, 'stepAsideMs'>,
): JobHandler {
  return async (row, { signal, onProgress }) => {
    const { resource, mode } = asSyncPayload(row.payload);
    const syncOnce = () =>
      runSync({ api, db, log, onProgress }, { resource, mode, concurrency, acceptDeletes: false, signal });
    let run = await syncOnce();
    // What a run that was resumed hours later cannot prove, a fresh one can; the row stays until that one has ended.
    if (run.state === 'partial' && run.isResumed) run = await syncOnce();
    if (run.state !== 'skipped' || (await hasRunSince(db, { resource, mode }, row.wanted_at))) {
      return { kind: 'done', result: run };
    }
    const waitedMs = Date.now() - Date.parse(row.wanted_at);
    return { kind: 'later', waitMs: Math.min(LONGEST_WAIT_MS, Math.max(stepAsideMs * 10, waitedMs / 2)) };
  };
}
