// One run of one resource, from taking its lock to closing its row in the run log: the place where crawl meets mirror.

import { MAXIMUM_LIMIT } from '../contract/answer-bodies.ts';
import type { ListedResource } from '../contract/resources.ts';
import { asDatabaseError } from '../db/as-database-error.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { transact } from '../db/transact.ts';
import { describeError } from '../describe-error.ts';
import { AppError } from '../errors.ts';
import { makeAccount } from '../mirror/account.ts';
import { beginFirstLoad, makeFirstLoad } from '../mirror/first-load.ts';
import { saveHeldBack } from '../mirror/held-back.ts';
import { markDeleted, markUnnamed } from '../mirror/mark-deleted.ts';
import { noteCounters, replaceCounters } from '../mirror/runs/covered-counters.ts';
import { type OpenedRun, openRun } from '../mirror/runs/open-run.ts';
import { makeSeenRows, readSeenRows } from '../mirror/runs/seen-rows.ts';
import { recordSkippedRun, stopRun } from '../mirror/runs/stop-run.ts';
import { finishRun, type SyncRun, saveDrift } from '../mirror/runs/sync-runs.ts';
import { beginSpan, inTrace, type Span } from '../tracing/span.ts';
import { type MetBefore, makeRunLoader, type RunLoader, rowCounts } from './run-loader.ts';
import { withRunLock } from './run-lock.ts';
import type { DeltaPlan, RunSummary, SyncMode, SyncProgress } from './run-summary.ts';
import type { SyncDeps, Walked } from './walk.ts';
import { walkDelta } from './walk-delta.ts';
import { walkFull } from './walk-full.ts';
import { walkOpen } from './walk-open.ts';

export interface RunDeps extends SyncDeps {
  readonly onProgress?: (progress: SyncProgress) => void;
  /** Told how far a run came that stops short, before its error is thrown, where the run log could take it. */
  readonly onStopped?: (run: RunSummary) => void;
}

export interface SyncInput {
  readonly resource: ListedResource;
  /** A delta of referrals needs a run of affiliates just before it. */
  readonly mode: SyncMode;
  /** Marks rows deleted even where suspiciously many are gone. */
  readonly acceptDeletes: boolean;
  /** Goes on also where the API has none of the records that the mirror has. Left out: it fails. */
  readonly acceptProgram?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns how the run ended. A run that was stopped or killed before is taken up where it was; while another process
 * syncs the resource, this run is `skipped`.
 *
 * Throws: what the API, the database or the signal throws, after noting it in the run log; what was read until then is
 * committed, and the next run of this resource and mode goes on from there.
 */
export async function runSync(deps: RunDeps, input: SyncInput): Promise<RunSummary> {
  const { resource, mode } = input;
  return await inTrace('run', { attributes: { resource, mode } }, async (span) => {
    const run = await runInTurn(deps, input, span);
    const { state, requests, deleted } = run;
    const { inserted, updated, rejected } = run.rows;
    span.set({ state, requests, inserted, updated, rejected, deleted });
    return run;
  });
}

async function runInTurn(deps: RunDeps, input: SyncInput, span: Span): Promise<RunSummary> {
  const startedMs = performance.now();
  const { resource, mode } = input;
  const locked = await withRunLock(deps.db, resource, () => runLocked(deps, input, startedMs, span));
  if (!locked.isHeldByOther) return summarise(resource, locked.result, startedMs);
  const reason = `another sync of ${resource} is running: ${locked.holder}`;
  deps.log.warn({ resource, mode, reason }, 'sync.skipped');
  const skipped = await recordSkippedRun(deps.db, { resource, mode, reason });
  return summarise(resource, skipped, startedMs);
}

async function runLocked(deps: RunDeps, input: SyncInput, startedMs: number, span: Span): Promise<SyncRun> {
  const { db, log } = deps;
  const { resource, mode, signal } = input;
  const { run, doubt } = await openRun(db, { resource, mode });
  span.set({ run_id: run.id, attempt: run.attempt });
  log.info({ run_id: run.id, resource, mode, attempt: run.attempt }, 'sync.started');
  const before = await readMetBefore(db, { run, resource });
  const loader = makeRunLoader(
    {
      api: deps.api,
      db,
      account: input.acceptProgram === true ? null : makeAccount({ api: deps.api, db }),
      treatment: deps.treatment,
      onProgress: deps.onProgress,
    },
    { run, resource, before, signal },
  );
  try {
    if (resource === 'referrals') await noteCounters(db, run);
    const walked = await walk(deps, loader, input, { run, doubt });
    await loader.saveRequests();
    return await finish(deps, loader, input, run, walked);
  } catch (thrown) {
    const error = asDatabaseError(thrown);
    const stopped = await stopRun(db, run, {
      state: signal?.aborted ? 'interrupted' : 'failed',
      requests: loader.unsavedRequests(),
      code: error instanceof AppError ? error.code : null,
      message: describeError(error),
    }).catch((second: unknown) => {
      // Most likely the database failed; the error that is thrown says so, and the lock ends with its connection.
      log.warn({ run_id: run.id, reason: describeError(second) }, 'sync.stop_not_recorded');
      return null;
    });
    if (stopped !== null) deps.onStopped?.(summarise(resource, stopped, startedMs));
    throw error;
  }
}

async function readMetBefore(
  db: Database,
  { run, resource }: { run: SyncRun; resource: ListedResource },
): Promise<MetBefore> {
  if (run.attempt === 1) {
    return { seen: makeSeenRows(), firstLoad: await beginFirstLoad(db, resource) };
  }
  return {
    seen: await readSeenRows(db, run.id),
    // A resumed walk reads again some of what it had read, and that would end it at once.
    firstLoad: makeFirstLoad(false),
  };
}

/** How a delta reads each resource; of any other, all: affiliates for their counters, campaigns since they are few. */
const WALK_CHANGES: { readonly [R in ListedResource]?: typeof walkDelta } = {
  referrals: walkDelta,
  commissions: walkOpen,
};

async function walk(
  deps: SyncDeps,
  loader: RunLoader,
  input: SyncInput,
  { run, doubt }: OpenedRun,
): Promise<Walked> {
  const { resource, mode, acceptDeletes, signal } = input;
  const walkInput = { run, doubt, limit: MAXIMUM_LIMIT, acceptDeletes, signal };
  // Only the full walk leaves a checkpoint: a delta that has one had chosen the full walk.
  const walkChanges = WALK_CHANGES[resource];
  const isDelta = mode === 'delta' && run.checkpoint === null;
  const head = mode === 'delta' && walkChanges === undefined ? 'when-moved' : 'always';
  return isDelta && walkChanges !== undefined
    ? await walkChanges(deps, loader, walkInput)
    : await walkFull(deps, loader, { ...walkInput, resource, head, from: null });
}

async function finish(
  { db, log }: SyncDeps,
  loader: RunLoader,
  { resource }: SyncInput,
  run: SyncRun,
  { doubt, missing }: Walked,
): Promise<SyncRun> {
  const verified = doubt === null;
  const heldBack = missing?.heldBack ?? null;
  const reason = verified ? (heldBack?.reason ?? null) : `unverified because ${doubt}`;
  if (reason !== null) {
    log.warn({ run_id: run.id, resource, reason }, verified ? 'sync.deletes_held_back' : 'sync.unverified');
  }
  // One transaction: killed here, the run has deleted nothing, and the next attempt decides anew.
  const write = async (trx: DatabaseTransaction) => {
    const of = { runId: run.id, resource };
    const rowsDeleted = missing?.gone ? await markDeleted(trx, { ...of, ...missing.gone }) : 0;
    if (missing?.isWhole) {
      await markUnnamed(trx, { ...of, seen: loader.seen, observedAt: run.started_at });
      await saveHeldBack(trx, of, heldBack?.ids ?? []);
    }
    const newDrift = await saveDrift(trx, of, loader.drift.findings());
    if (verified && resource === 'referrals') await replaceCounters(trx, run.id);
    const deletesHeldBack = heldBack?.ids.length ?? 0;
    return { ended: await finishRun(trx, run, { verified, reason, rowsDeleted, deletesHeldBack }), newDrift };
  };
  const { ended, newDrift } = await transact(db, write, () => beginSpan('commit'));
  for (const { field, kind, found } of newDrift)
    log.warn({ resource, field, kind, found }, 'sync.schema_drift');
  log.info(
    {
      run_id: run.id,
      resource,
      state: ended.state,
      requests: ended.requests,
      ...rowCounts(ended),
      deleted: ended.rows_deleted,
      held_back: ended.deletes_held_back,
    },
    'sync.finished',
  );
  return ended;
}

function summarise(resource: ListedResource, run: SyncRun, startedMs: number): RunSummary {
  if (run.state === 'running' || run.finished_at === null) throw new TypeError(`run ${run.id} has no end`);
  return {
    runId: run.id,
    resource,
    mode: run.mode,
    state: run.state,
    errorCode: run.error_code,
    reason: run.error,
    startedAt: run.started_at,
    finishedAt: run.finished_at,
    isResumed: run.attempt > 1,
    requests: run.requests,
    pages: run.pages,
    rows: rowCounts(run),
    deleted: run.rows_deleted,
    deletesHeldBack: run.deletes_held_back,
    total: run.total_upstream,
    distinct: run.distinct_seen,
    verified: run.verified,
    // Written by walk-delta and walk-open alone.
    plan: run.plan as DeltaPlan | null,
    durationMs: Math.round(performance.now() - startedMs),
  };
}
