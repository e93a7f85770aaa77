// One run of one resource, from taking its lock to closing its row in the run log.

import { describeError } from '../base/describe-error.ts';
import { AppError } from '../base/errors.ts';
import { beginSpan, inTrace, type Span } from '../base/span.ts';
import { MAXIMUM_LIMIT } from '../contract/answer-bodies.ts';
import type { ListedResource } from '../contract/resources.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { asDatabaseError, asKnownError } from '../db/database-errors.ts';
import { withLock } from '../db/locks/process-session.ts';
import { storableText } from '../db/storable.ts';
import { transact } from '../db/transact.ts';
import { makeDecoding } from '../decode/decode-page.ts';
import { makeDriftWatch } from '../decode/drift-watch.ts';
import { makeAccount } from '../mirror/account.ts';
import { saveHeldBack } from '../mirror/held-back.ts';
import { markDeleted, markUnnamed } from '../mirror/mark-deleted.ts';
import { noteCounters, replaceCounters } from '../mirror/runs/covered-counters.ts';
import { type OpenedRun, openRun } from '../mirror/runs/open-run.ts';
import { makeSeenRows, readSeenRows } from '../mirror/runs/seen-rows.ts';
import { finishRun, recordSkippedRun, type SyncRun, saveDrift, stopRun } from '../mirror/runs/sync-runs.ts';
import { beginFirstLoad, makeFirstLoad } from '../mirror/send-rows.ts';
import type { OpenRun, ReadOutcome, SyncDeps } from './open-run.ts';
import type { DeltaPlan } from './plan-delta.ts';
import { readChangedOpen, readChangedReferrals } from './read-changes.ts';
import { readFull } from './read-full.ts';
import { makeRunLoader, rowCounts } from './run-loader.ts';
import type { RunSummary, SyncMode, SyncProgress } from './run-summary.ts';

export interface RunDeps extends SyncDeps {
  readonly onProgress?: (progress: SyncProgress) => void;
  /** Called with the figures of a run that stops short, before its error is thrown, if the run log took them. */
  readonly onStopped?: (run: RunSummary) => void;
}

export interface SyncInput {
  readonly resource: ListedResource;
  /** A delta of referrals needs a run of affiliates just before it. */
  readonly mode: SyncMode;
  /** Marks rows deleted even if suspiciously many are gone. */
  readonly acceptDeletes: boolean;
  /** Goes on if the API has none of the records that the mirror has. Left out: the run fails. */
  readonly acceptProgram?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns how the run ended. A run that was stopped or killed before goes on from its checkpoint; while another process
 * syncs the resource, this run is `skipped`.
 *
 * Throws: the error of the API, the database or the signal, after noting it in the run log; pages that were read until
 * then are committed, and the next run of this resource and mode goes on from there.
 */
export async function runSync(deps: RunDeps, input: SyncInput): Promise<RunSummary> {
  const { resource, mode } = input;
  return await inTrace('run', { attributes: { resource, mode } }, async (span) => {
    const run = await runExclusive(deps, input, span);
    const { state, requests, rows_inserted, rows_updated, rows_rejected, rows_deleted } = run;
    const rows = { inserted: rows_inserted, updated: rows_updated, rejected: rows_rejected };
    span.set({ state, requests, ...rows, deleted: rows_deleted });
    return run;
  });
}

async function runExclusive(deps: RunDeps, input: SyncInput, span: Span): Promise<RunSummary> {
  const startedMs = performance.now();
  const { resource, mode } = input;
  const locked = await withLock(deps.db, `run of ${resource} in`, () =>
    runLocked(deps, input, startedMs, span),
  );
  if (!locked.isHeldByOther) return summarise(resource, locked.result, startedMs);
  const reason = `another sync of ${resource} is running: ${locked.holder}`;
  deps.log.warn({ resource, mode, reason }, 'sync.skipped');
  const skipped = await recordSkippedRun(deps.db, { resource, mode, reason });
  return summarise(resource, skipped, startedMs);
}

async function runLocked(deps: RunDeps, input: SyncInput, startedMs: number, span: Span): Promise<SyncRun> {
  const { db, log } = deps;
  const { resource, mode, signal } = input;
  const opened = await openRun(db, { resource, mode });
  const { run } = opened;
  span.set({ run_id: run.id, attempt: run.attempt });
  log.info({ run_id: run.id, resource, mode, attempt: run.attempt }, 'sync.started');
  let reading: OpenRun | null = null;
  try {
    reading = await prepare(deps, input, opened);
    if (resource === 'referrals') await noteCounters(db, run);
    const outcome = await read(reading, mode);
    await reading.loader.saveRequests();
    return await finish(reading, outcome);
  } catch (thrown) {
    const error = asDatabaseError(thrown);
    const noted = signal?.aborted ? error : asKnownError(error);
    const stopped = await stopRun(db, run, {
      state: signal?.aborted ? 'interrupted' : 'failed',
      requests: reading?.loader.unsavedRequests() ?? 0,
      code: noted instanceof AppError ? noted.code : null,
      message: storableText(describeError(noted)),
    }).catch((second: unknown) => {
      // Most likely the database failed; the error that is thrown says so, and the lock ends with its connection.
      log.warn({ run_id: run.id, reason: describeError(second) }, 'sync.stop_not_recorded');
      return null;
    });
    if (stopped !== null) deps.onStopped?.(summarise(resource, stopped, startedMs));
    throw error;
  }
}

async function prepare(deps: RunDeps, input: SyncInput, { run, doubt }: OpenedRun): Promise<OpenRun> {
  const { api, db, treatment, onProgress } = deps;
  const { resource, acceptDeletes, signal } = input;
  const isResumed = run.attempt > 1;
  const seen = isResumed ? await readSeenRows(db, run.id) : makeSeenRows();
  // A resumed walk reads some rows again, which would end a first load at once.
  const firstLoad = isResumed ? makeFirstLoad(false) : await beginFirstLoad(db, resource);
  const account = input.acceptProgram === true ? null : makeAccount({ api, db });
  const loader = makeRunLoader({ db, account, run, resource, seen, firstLoad, signal, onProgress });
  const decoding = makeDecoding(resource, { drift: makeDriftWatch(), treatment });
  return { ...deps, run, resource, decoding, loader, limit: MAXIMUM_LIMIT, acceptDeletes, doubt, signal };
}

/**
 * How a delta reads each resource. It reads all affiliates for their counters, and all campaigns, since they are few.
 */
const READ_CHANGES: { readonly [R in ListedResource]?: (reading: OpenRun) => Promise<ReadOutcome> } = {
  referrals: readChangedReferrals,
  commissions: (reading) => readChangedOpen(reading, 'commissions'),
  payouts: (reading) => readChangedOpen(reading, 'payouts'),
};

async function read(reading: OpenRun, mode: SyncMode): Promise<ReadOutcome> {
  const readChanges = READ_CHANGES[reading.resource];
  // Only the full walk leaves a checkpoint: a delta that has one had chosen the full walk.
  const isDelta = mode === 'delta' && reading.run.checkpoint === null;
  if (isDelta && readChanges !== undefined) return readChanges(reading);
  const head = mode === 'delta' && readChanges === undefined ? 'when-moved' : 'always';
  return readFull(reading, { head, from: null });
}

async function finish(
  { db, log, run, resource, loader, decoding }: OpenRun,
  { doubt, missing }: ReadOutcome,
): Promise<SyncRun> {
  const verified = doubt === null;
  const heldBack = missing?.heldBack ?? null;
  const reason = verified ? (heldBack?.reason ?? null) : `unverified because ${doubt}`;
  if (reason !== null) {
    log.warn({ run_id: run.id, resource, reason }, verified ? 'sync.deletes_held_back' : 'sync.unverified');
  }
  // In one transaction: a run that is killed here has deleted nothing, and the next attempt decides anew.
  const write = async (trx: DatabaseTransaction) => {
    const of = { runId: run.id, resource };
    const rowsDeleted = missing?.gone ? await markDeleted(trx, { ...of, ...missing.gone }) : 0;
    if (missing?.isWhole) {
      await markUnnamed(trx, { ...of, seen: loader.seen, observedAt: run.started_at });
      await saveHeldBack(trx, of, heldBack?.ids ?? []);
    }
    const newDrift = await saveDrift(trx, of, decoding.drift?.findings() ?? []);
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
    ...run,
    resource,
    state: run.state,
    reason: run.error,
    finished_at: run.finished_at,
    is_resumed: run.attempt > 1,
    // Written by read-changes.ts alone.
    plan: run.plan as DeltaPlan | null,
    duration_ms: Math.round(performance.now() - startedMs),
  };
}
