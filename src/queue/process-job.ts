// What a worker does with one job of the queue: look up the wanted row, call its handler, and then finish the row, try
// again, put the job off or pause the queue.

import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import type { Database } from '../db/database.ts';
import { storable, storableText } from '../db/storable.ts';
import { transact } from '../db/transact.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { LOCK_LOST, type WorkQueue } from './backend.ts';
import { enqueue } from './enqueue.ts';
import { decideAfterFailure } from './failure.ts';
import { claimTick, noteNext, type Schedule, TICK } from './schedules.ts';
import type { Timings } from './timings.ts';
import { finishWanted, type JobKinds, readWanted, type WantedRow, wantJobs } from './wanted-jobs.ts';

export interface JobContext {
  /** Aborted when the worker stops, when the queue is paused, and when another worker may have the job. */
  readonly signal: AbortSignal;
  /** Kept on the job, at most once a second. */
  readonly onProgress: (progress: object) => void;
}

export type JobOutcome =
  | { readonly kind: 'done'; readonly result: object }
  /** Not to be done now: another process is doing it. Costs no attempt. */
  | { readonly kind: 'later'; readonly waitMs: number };

export type JobHandler = (row: WantedRow, context: JobContext) => Promise<JobOutcome>;
export type JobHandlers = Readonly<Record<string, JobHandler>>;

export interface ProcessDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly queue: WorkQueue;
  readonly handlers: JobHandlers;
  readonly kinds: JobKinds;
  readonly schedules: readonly Schedule[];
  /** Called on a 401, once it is clear that it was one. */
  readonly pause: (error: unknown) => Promise<void>;
}

const PROGRESS_INTERVAL_MS = 1000;

/**
 * Returns the processor. BullMQ passes a signal only to a function of three parameters, none of them with a default.
 */
export function makeProcessJob(
  deps: ProcessDeps,
  timings: Timings,
): (job: Job, token: string | undefined, signal: AbortSignal | undefined) => Promise<unknown> {
  return async (job, token, signal) => {
    if (signal === undefined) throw new TypeError('BullMQ passed no signal');
    try {
      if (job.name === TICK) return await tick(deps, job);
      return await work(deps, timings, { job, token, signal });
    } catch (error) {
      if (error instanceof DelayedError) throw error;
      return await settle(deps, timings, { job, token, signal }, error);
    }
  };
}

// The tick is claimed and what it wants is written in one transaction; the queue may forget the rest.
async function tick({ db, queue, kinds, schedules }: ProcessDeps, job: Job): Promise<object> {
  const schedule = schedules.find(({ name }) => name === job.data.schedule);
  // Another worker's newer or older catalogue names it; that worker acts upon it.
  if (schedule === undefined) return { state: 'unknown schedule' };
  const dueMs = job.opts.prevMillis ?? job.timestamp;
  const news = await transact(db, async (trx) =>
    (await claimTick(trx, schedule.name, dueMs)) ? wantJobs(trx, kinds, schedule.wants) : [],
  );
  for (const wanted of news) await enqueue(queue, kinds, wanted);
  await noteNext({ db, queue }, schedule.name);
  return { wanted: news.map(({ key }) => key) };
}

interface Running {
  readonly job: Job;
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

async function work(
  deps: ProcessDeps,
  { longestDelayMs }: Timings,
  { job, token, signal }: Running,
): Promise<unknown> {
  const { db, handlers, log } = deps;
  const key = String(job.data.key);
  let result: object = { state: 'nothing to do' };
  for (;;) {
    signal.throwIfAborted();
    const row = await readWanted(db, key);
    if (row === null) return storable(result);
    const handler = handlers[row.name];
    if (handler === undefined) throw new TypeError(`no handler for the job ${row.name}`);
    const outcome = await handler(row, { signal, onProgress: makeOnProgress(job, log) });
    if (outcome.kind === 'later') await stepAside(job, token, Math.min(outcome.waitMs, longestDelayMs));
    else {
      result = outcome.result;
      await finish(deps, row);
    }
  }
}

async function finish({ db, queue, kinds }: ProcessDeps, row: WantedRow): Promise<void> {
  for (const next of await finishWanted(db, kinds, row)) await enqueue(queue, kinds, next);
}

async function settle(
  deps: ProcessDeps,
  timings: Timings,
  { job, token, signal }: Running,
  error: unknown,
): Promise<never> {
  const { log, db } = deps;
  const reason = storableText(describeError(error));
  if (signal.aborted) {
    if (signal.reason === LOCK_LOST) {
      log.warn({ job: job.name, key: job.data.key }, 'job.lock_lost');
      // It may be another worker's by now: the queue refuses whatever this one does with it.
      throw new Error(LOCK_LOST);
    }
    log.info({ job: job.name, key: job.data.key, why: signal.reason }, 'job.given_back');
    return await stepAside(job, token, timings.stepAsideMs);
  }
  const decision = decideAfterFailure(error, timings);
  if (decision.kind === 'pause') {
    await deps.pause(error);
    return await stepAside(job, token, timings.stepAsideMs);
  }
  if (decision.kind === 'wait') {
    const waitMs = Math.min(decision.waitMs, timings.longestDelayMs);
    log.warn({ job: job.name, key: job.data.key, wait_ms: waitMs, reason }, 'job.waits');
    return await stepAside(job, token, waitMs);
  }
  const attempt = job.attemptsMade + 1;
  const isLast = attempt >= (job.opts.attempts ?? 1);
  if (decision.kind === 'retry' && !isLast) {
    log.warn({ job: job.name, key: job.data.key, attempt, reason }, 'job.failed_for_now');
    throw storableError(error, reason);
  }
  log.error({ job: job.name, key: job.data.key, attempt, reason }, 'job.failed');
  const row = job.name === TICK ? null : await readWanted(db, String(job.data.key));
  if (row !== null) await finish(deps, row);
  throw new UnrecoverableError(reason);
}

// Neither a failure nor an end, and no attempt is spent. Not moved back to waiting: a worker that closes would take
// its own job again and run it to its end.
async function stepAside(job: Job, token: string | undefined, waitMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + waitMs, token);
  throw new DelayedError();
}

// On Postgres, an error that cannot be stored leaves its job active forever.
function storableError(error: unknown, reason: string): Error {
  const stored = new Error(reason);
  if (error instanceof Error && error.stack !== undefined) stored.stack = storableText(error.stack);
  return stored;
}

function makeOnProgress(job: Job, log: Logger): JobContext['onProgress'] {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (performance.now() - lastMs < PROGRESS_INTERVAL_MS) return;
    lastMs = performance.now();
    job.updateProgress(storable(progress) as object).catch((error: unknown) => {
      log.debug({ job: job.name, reason: describeError(error) }, 'job.progress_not_kept');
    });
  };
}
