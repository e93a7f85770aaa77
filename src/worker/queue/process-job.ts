// Processes one job of the queue: asks its source whether the item is still due, does it, and ends, retries or delays
// the job.

import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { describeError } from '../../base/describe-error.ts';
import type { Logger } from '../../base/log.ts';
import { inTrace } from '../../base/span.ts';
import { asDatabaseError } from '../../db/database-errors.ts';
import { storableText } from '../../db/storable.ts';
import { LOCK_LOST } from './backend.ts';
import type { DueItems } from './due-items.ts';
import { decideAfterFailure, isFailureOfProgram } from './failure.ts';
import type { Item, JobSource } from './job-source.ts';
import type { JobKeeper } from './keep-jobs.ts';
import type { ProgramWatch } from './program-watch.ts';
import { TICK } from './schedules.ts';
import type { Timings } from './timings.ts';

export interface ProcessDeps extends Pick<JobKeeper, 'wake'> {
  readonly log: Logger;
  readonly sources: readonly JobSource[];
  readonly due: DueItems;
  readonly program: Pick<ProgramWatch, 'noteRefusal' | 'isAway'>;
  /** Whether the job of this identifier was given up. */
  readonly wasGivenUp: (id: string) => Promise<boolean>;
}

/**
 * How a job ends: done, delayed by so many milliseconds, or failed. A delay costs no attempt.
 */
type Ending = 'done' | number | Error;

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
    if (job.name !== TICK) return await end(await traceJob(deps, timings, { job, signal }), job, token);
    await inTrace('tick', { attributes: { schedule: job.repeatJobKey } }, async ({ reference }) => {
      const due = deps.sources.filter(({ schedules }) =>
        schedules.some(({ name }) => name === job.repeatJobKey),
      );
      deps.wake(
        due.map(({ name }) => name),
        reference,
      );
    });
  };
}

async function end(ending: Ending, job: Job, token: string | undefined): Promise<void> {
  if (ending instanceof Error) throw ending;
  if (ending === 'done') return;
  // Not moved back to waiting: a worker that closes would take its own job again and run it to its end. Whole
  // milliseconds: the queue on Postgres refuses others, and the job would be given up.
  await job.moveToDelayed(Date.now() + Math.ceil(ending), token);
  throw new DelayedError();
}

async function traceJob(deps: ProcessDeps, timings: Timings, { job, signal }: Running): Promise<Ending> {
  const attributes = { job: job.name, job_id: job.id, attempt: job.attemptsMade + 1 };
  return await inTrace('job', { attributes, cause: job.data.cause ?? null }, async (span) => {
    let item: Item | null = null;
    try {
      signal.throwIfAborted();
      item = await findItem(deps, job);
      if (item === null) return 'done';
      span.set({ due: item.id });
      const outcome = await item.run({ signal, waitedMs: Date.now() - job.timestamp });
      return outcome.kind === 'done' ? 'done' : Math.min(outcome.waitMs, timings.longestDelayMs);
    } catch (error) {
      if (!signal.aborted) span.failWith(error);
      return await endAfter(error, deps, timings, { job, signal, item });
    }
  });
}

/** Returns the most important due item of the job's subject that was not given up; null if there is none. */
async function findItem({ sources, due, log, wasGivenUp }: ProcessDeps, job: Job): Promise<Item | null> {
  const source = sources.find(({ name }) => name === job.name);
  if (source === undefined) {
    // A worker of another version has it, and makes it a new job.
    log.warn({ job: job.name, id: job.id }, 'job.unknown');
    return null;
  }
  // The work of a job that was begun before may be done.
  const sinceMs = job.attemptsStarted > 1 ? Date.now() : job.timestamp;
  const items = await due.find(source, job.deduplicationId ?? job.id ?? '', sinceMs);
  for (const item of items) if (item.id === job.id || !(await wasGivenUp(item.id))) return item;
  log.debug({ job: job.name, id: job.id }, 'job.done_already');
  return null;
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
      // Another worker may have it by now: the queue refuses every change by this one.
      return new Error(LOCK_LOST);
    }
    log.info({ ...about, why: signal.reason }, 'job.given_back');
    return timings.handBackMs;
  }
  const decision = decideAfterFailure(error, timings);
  if (decision.kind === 'wait') {
    const waitMs = Math.min(decision.waitMs, timings.longestDelayMs);
    log.warn({ ...about, wait_ms: waitMs, reason }, 'job.put_off');
    return waitMs;
  }
  if (decision.kind === 'refused') await program.noteRefusal(decision.error);
  if (decision.kind === 'refused' || (isFailureOfProgram(error) && (await program.isAway(error, signal)))) {
    // The item gets a new job, with all of its attempts, once the API may be asked.
    due.forget();
    log.info({ ...about, reason }, 'job.waits_for_program');
    return 'done';
  }
  const attempt = job.attemptsMade + 1;
  const isLast = attempt >= (job.opts.attempts ?? 1);
  if (decision.kind === 'retry' && !isLast) {
    log.warn({ ...about, attempt, reason }, 'job.failed_for_now');
    return storableError(error, reason);
  }
  log.error({ ...about, attempt, reason }, 'job.failed');
  // A job of its own gives it up.
  if (decision.kind === 'fail' && item !== null && item.id !== job.id) return 'done';
  return new UnrecoverableError(reason);
}

// On Postgres, an error that cannot be stored leaves its job active forever.
function storableError(error: unknown, reason: string): Error {
  const stored = new Error(reason);
  if (error instanceof Error && error.stack !== undefined) stored.stack = storableText(error.stack);
  return stored;
}
