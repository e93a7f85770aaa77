// Processes one job of the queue: asks the source of its program whether the item is still due, does it, and ends,
// retries or delays the job.

import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { describeError } from '../../base/describe-error.ts';
import { inTrace } from '../../base/span.ts';
import { asDatabaseError } from '../../db/database-errors.ts';
import { storableText } from '../../db/storable.ts';
import { LOCK_LOST } from './backend.ts';
import type { DueItems } from './due-items.ts';
import { decideAfterFailure, isFailureOfProgram } from './failure.ts';
import type { Item } from './job-source.ts';
import type { ProgramWatch } from './program-watch.ts';
import { fromQueued, programOf, toQueued } from './queued-name.ts';
import { TICK } from './schedules.ts';
import type { ServedProgram, Serving } from './served-program.ts';
import type { Timings } from './timings.ts';

/** A program that is served, as its jobs need it. */
export interface JobOwner extends Pick<ServedProgram, 'name' | 'log' | 'sources'>, Pick<Serving, 'wake'> {
  readonly due: DueItems;
  readonly watch: Pick<ProgramWatch, 'noteRefusal' | 'isAway'>;
}

export interface ProcessDeps {
  /** Null if this worker does not serve the program, or not yet. */
  readonly findOwner: (program: string | null) => JobOwner | null;
  /** Whether a job of this priority may begin, or has to leave its slot to what is more important. */
  readonly hasSlot: (priority: number) => boolean;
  /** Whether the job of this identifier, as the queue has it, was given up. */
  readonly wasGivenUp: (id: string) => Promise<boolean>;
}

/** How a job ends: done, delayed by so many milliseconds, or failed. A delay costs no attempt. */
type Ending = 'done' | number | Error;

interface Running {
  readonly job: Job;
  readonly signal: AbortSignal;
  readonly owner: JobOwner;
}

type Begun = Omit<Running, 'owner'> & { readonly owner: JobOwner | null };

export type ProcessJob = (
  job: Job,
  token: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<void>;

/**
 * A job waits for a program that no worker serves for this long. Then it is dropped: the first round of a worker that
 * serves the program again adds it.
 */
const UNSERVED_MS = 3_600_000;

/**
 * Returns the processor. BullMQ passes a signal only to a function of three parameters, none of them with a default.
 */
export function makeProcessJob(deps: ProcessDeps, timings: Timings): ProcessJob {
  const endingOf = async ({ owner, ...running }: Begun): Promise<Ending> => {
    if (owner === null)
      return Date.now() - running.job.timestamp > UNSERVED_MS ? 'done' : putOff(running.job, timings);
    if (!deps.hasSlot(running.job.priority)) return putOff(running.job, timings);
    return traceJob(deps, timings, { owner, ...running });
  };
  return async (job, token, signal) => {
    if (signal === undefined) throw new TypeError('BullMQ passed no signal');
    const owner = deps.findOwner(programOf(job.name));
    if (fromQueued(job.name) === TICK) return await tick(job, owner);
    await end(await endingOf({ job, signal, owner }), job, token);
  };
}

/** A tick of a program that is not served may be lost: its first round asks all sources. */
async function tick({ repeatJobKey }: Job, owner: JobOwner | null): Promise<void> {
  if (owner === null) return;
  const schedule = repeatJobKey && fromQueued(repeatJobKey);
  await inTrace('tick', { attributes: { ...attributesOf(owner), schedule } }, async ({ reference }) => {
    const due = owner.sources.filter(({ schedules }) => schedules.some(({ name }) => name === schedule));
    owner.wake(
      due.map(({ name }) => name),
      reference,
    );
  });
}

function attributesOf({ name }: JobOwner): { program?: string } {
  return name === null ? {} : { program: name };
}

/** Soon at first, since another worker may have a slot, or serve the program already; then ever later. */
function putOff({ timestamp }: Job, { handBackMs, watchIntervalMs }: Timings): Ending {
  const waitedMs = Date.now() - timestamp;
  return Math.min(Math.max(handBackMs, waitedMs / 2), watchIntervalMs / 4);
}

async function end(ending: Ending, job: Job, token: string | undefined): Promise<void> {
  if (ending instanceof Error) throw ending;
  if (ending === 'done') return;
  // Not moved back to waiting: a worker that closes would take its own job again and run it to its end. Whole
  // milliseconds: the queue on Postgres refuses others, and the job would be given up.
  await job.moveToDelayed(Date.now() + Math.ceil(ending), token);
  throw new DelayedError();
}

async function traceJob(deps: ProcessDeps, timings: Timings, running: Running): Promise<Ending> {
  const { job, signal, owner } = running;
  const about = { job: fromQueued(job.name), job_id: fromQueued(job.id ?? '') };
  const attributes = { ...attributesOf(owner), ...about, attempt: job.attemptsMade + 1 };
  return await inTrace('job', { attributes, cause: job.data.cause ?? null }, async (span) => {
    let item: Item | null = null;
    try {
      signal.throwIfAborted();
      item = await findItem(deps, running);
      if (item === null) return 'done';
      span.set({ due: item.id });
      const outcome = await item.run({ signal, waitedMs: Date.now() - job.timestamp });
      return outcome.kind === 'done' ? 'done' : Math.min(outcome.waitMs, timings.longestDelayMs);
    } catch (error) {
      if (!signal.aborted) span.failWith(error);
      return await endAfter(error, timings, { ...running, item });
    }
  });
}

/** Returns the most important due item of the job's subject that was not given up; null if there is none. */
async function findItem({ wasGivenUp }: ProcessDeps, { job, owner }: Running): Promise<Item | null> {
  const { sources, due, log } = owner;
  const about = { job: fromQueued(job.name), id: fromQueued(job.id ?? '') };
  const source = sources.find(({ name }) => name === about.job);
  if (source === undefined) {
    // A worker of another version has it, and makes it a new job.
    log.warn(about, 'job.unknown');
    return null;
  }
  // The work of a job that was begun before may be done.
  const sinceMs = job.attemptsStarted > 1 ? Date.now() : job.timestamp;
  const items = await due.find(source, fromQueued(job.deduplicationId ?? job.id ?? ''), sinceMs);
  for (const item of items) {
    if (item.id === about.id || !(await wasGivenUp(toQueued(owner.name, item.id)))) return item;
  }
  log.debug(about, 'job.done_already');
  return null;
}

async function endAfter(
  thrown: unknown,
  timings: Timings,
  { job, signal, owner, item }: Running & { readonly item: Item | null },
): Promise<Ending> {
  const { log, watch, due } = owner;
  const error = asDatabaseError(thrown);
  const reason = storableText(describeError(error));
  const id = fromQueued(job.id ?? '');
  const about = { job: fromQueued(job.name), id, due: item?.id };
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
  if (decision.kind === 'refused') await watch.noteRefusal(decision.error);
  if (decision.kind === 'refused' || (isFailureOfProgram(error) && (await watch.isAway(error, signal)))) {
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
  if (decision.kind === 'fail' && item !== null && item.id !== id) return 'done';
  return new UnrecoverableError(reason);
}

// On Postgres, an error that cannot be stored leaves its job active forever.
function storableError(error: unknown, reason: string): Error {
  const stored = new Error(reason);
  if (error instanceof Error && error.stack !== undefined) stored.stack = storableText(error.stack);
  return stored;
}
