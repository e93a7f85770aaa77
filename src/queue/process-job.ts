// What a worker does with one job of the queue: ask its source whether the item is still due, do it, and then end the
// job, try again, or put it off.

import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { asDatabaseError } from '../db/as-database-error.ts';
import { storable, storableText } from '../db/storable.ts';
import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { inTrace } from '../tracing/span.ts';
import { LOCK_LOST } from './backend.ts';
import type { DueItems } from './due-items.ts';
import { decideAfterFailure, isFailureOfProgram } from './failure.ts';
import type { Item, JobContext, JobSource } from './job-source.ts';
import type { JobKeeper } from './keep-jobs.ts';
import type { ProgramWatch } from './program-watch.ts';
import { TICK } from './schedules.ts';
import type { Timings } from './timings.ts';

export interface ProcessDeps extends Pick<JobKeeper, 'tick'> {
  readonly log: Logger;
  readonly sources: readonly JobSource[];
  readonly due: DueItems;
  readonly program: Pick<ProgramWatch, 'noteRefusal' | 'isAway'>;
  /** Whether the job of this identifier was given up. */
  readonly wasGivenUp: (id: string) => Promise<boolean>;
}

const PROGRESS_INTERVAL_MS = 1000;

/** How a worker's turn with a job ends. One that is put off is neither a failure nor an end, and costs no attempt. */
type Ending =
  | { readonly kind: 'done' }
  | { readonly kind: 'put off'; readonly waitMs: number }
  | { readonly kind: 'failed'; readonly error: unknown };

const DONE: Ending = { kind: 'done' };

interface Running {
  readonly job: Job;
  readonly signal: AbortSignal;
}

/**
 * Returns the processor. BullMQ passes a signal only to a function of three parameters, none of them with a default.
 */
export function makeProcessJob(
  deps: ProcessDeps,
  timings: Timings,
): (job: Job, token: string | undefined, signal: AbortSignal | undefined) => Promise<void> {
  return async (job, token, signal) => {
    if (signal === undefined) throw new TypeError('BullMQ passed no signal');
    if (job.name === TICK) return await carryOutTick(deps, job);
    await carryOut(await traceJob(deps, timings, { job, signal }), job, token);
  };
}

async function carryOut(ending: Ending, job: Job, token: string | undefined): Promise<void> {
  if (ending.kind === 'failed') throw ending.error;
  if (ending.kind === 'done') return;
  // Not moved back to waiting: a worker that closes would take its own job again and run it to its end. Whole
  // milliseconds: the queue on Postgres refuses others, and the job would be given up.
  await job.moveToDelayed(Date.now() + Math.ceil(ending.waitMs), token);
  throw new DelayedError();
}

async function carryOutTick({ tick }: ProcessDeps, { repeatJobKey: schedule }: Job): Promise<void> {
  await inTrace('tick', { attributes: { schedule } }, async ({ reference }) => tick(schedule, reference));
}

async function traceJob(deps: ProcessDeps, timings: Timings, { job, signal }: Running): Promise<Ending> {
  const attributes = { job: job.name, job_id: job.id, attempt: job.attemptsMade + 1 };
  return await inTrace('job', { attributes, cause: job.data.cause ?? null }, async (span) => {
    let item: Item | null = null;
    try {
      signal.throwIfAborted();
      item = await findItem(deps, job);
      if (item === null) return DONE;
      span.set({ due: item.id });
      return await work(deps, timings, { job, signal, item });
    } catch (error) {
      if (!signal.aborted) span.failWith(error);
      return await endAfter(error, deps, timings, { job, signal, item }).catch(
        (failure: unknown): Ending => ({ kind: 'failed', error: failure }),
      );
    }
  });
}

/** Returns what is due of the job's subject, most important first, and was not given up; null where nothing is. */
async function findItem({ sources, due, log, wasGivenUp }: ProcessDeps, job: Job): Promise<Item | null> {
  const source = sources.find(({ name }) => name === job.name);
  if (source === undefined) {
    // A worker of another version has it, and makes it a new job.
    log.warn({ job: job.name, id: job.id }, 'job.unknown');
    return null;
  }
  // A job that was begun before may have been done by then.
  const sinceMs = job.attemptsStarted > 1 ? Date.now() : job.timestamp;
  const items = await due.find(source, job.deduplicationId ?? job.id ?? '', sinceMs);
  for (const item of items) if (item.id === job.id || !(await wasGivenUp(item.id))) return item;
  log.debug({ job: job.name, id: job.id }, 'job.done_already');
  return null;
}

async function work(
  { log }: ProcessDeps,
  { longestDelayMs }: Timings,
  { job, signal, item }: Running & { readonly item: Item },
): Promise<Ending> {
  const onProgress = makeOnProgress(job, log);
  const outcome = await item.run({ signal, onProgress, waitedMs: Date.now() - job.timestamp });
  if (outcome.kind === 'done') return DONE;
  return { kind: 'put off', waitMs: Math.min(outcome.waitMs, longestDelayMs) };
}

async function endAfter(
  thrown: unknown,
  { log, program, due }: ProcessDeps,
  timings: Timings,
  { job, signal, item }: Running & { readonly item: Item | null },
): Promise<Ending> {
  const error = asDatabaseError(thrown);
  const reason = storableText(describeError(error));
  const about = { job: job.name, id: job.id, due: item?.id };
  if (signal.aborted) {
    if (signal.reason === LOCK_LOST) {
      log.warn(about, 'job.lock_lost');
      // It may be another worker's by now: the queue refuses whatever this one does with it.
      return { kind: 'failed', error: new Error(LOCK_LOST) };
    }
    log.info({ ...about, why: signal.reason }, 'job.given_back');
    return { kind: 'put off', waitMs: timings.stepAsideMs };
  }
  const decision = decideAfterFailure(error, timings);
  if (decision.kind === 'wait') {
    const waitMs = Math.min(decision.waitMs, timings.longestDelayMs);
    log.warn({ ...about, wait_ms: waitMs, reason }, 'job.put_off');
    return { kind: 'put off', waitMs };
  }
  if (decision.kind === 'refused') await program.noteRefusal(decision.error);
  if (decision.kind === 'refused' || (isFailureOfProgram(error) && (await program.isAway(error, signal)))) {
    // What is due gets a new job, with all of its attempts, once the program may be asked.
    due.forget();
    log.info({ ...about, reason }, 'job.waits_for_program');
    return DONE;
  }
  const attempt = job.attemptsMade + 1;
  const isLast = attempt >= (job.opts.attempts ?? 1);
  if (decision.kind === 'retry' && !isLast) {
    log.warn({ ...about, attempt, reason }, 'job.failed_for_now');
    return { kind: 'failed', error: storableError(error, reason) };
  }
  log.error({ ...about, attempt, reason }, 'job.failed');
  // It is given up by a job of its own.
  if (decision.kind === 'fail' && item !== null && item.id !== job.id) return DONE;
  return { kind: 'failed', error: new UnrecoverableError(reason) };
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
