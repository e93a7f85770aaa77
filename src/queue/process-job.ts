// What a worker does with one job of the queue: ask its duty what is due, do that, and then end the job, try again, put
// it off or pause the queue.

import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { asDatabaseError } from '../db/as-database-error.ts';
import type { Database } from '../db/database.ts';
import { storable, storableText } from '../db/storable.ts';
import { describeError } from '../describe-error.ts';
import type { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { inTrace, type Span } from '../tracing/span.ts';
import { LOCK_LOST } from './backend.ts';
import type { Causes } from './causes.ts';
import type { Duty, JobContext } from './duty.ts';
import { backoffMs, decideAfterFailure } from './failure.ts';
import { TICK } from './schedules.ts';
import type { Timings } from './timings.ts';
import {
  chooseTurn,
  noteAwaited,
  noteDone,
  noteFailure,
  noteHopeless,
  type Turn,
  type TurnDeps,
} from './turns.ts';
import { readMoment } from './worker-state.ts';

export interface ProcessDeps extends TurnDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly duties: readonly Duty[];
  readonly causes: Causes;
  /** Called with an error that pauses all work. */
  readonly pause: (error: AppError) => Promise<void>;
}

const PROGRESS_INTERVAL_MS = 1000;

/** How a worker's turn with a job ends. One that is put off is neither a failure nor an end, and costs no attempt. */
type Ending =
  | { readonly kind: 'done' }
  | { readonly kind: 'put off'; readonly waitMs: number }
  | { readonly kind: 'failed'; readonly error: unknown };

const DONE: Ending = { kind: 'done' };

/**
 * Returns the processor. BullMQ passes a signal only to a function of three parameters, none of them with a default.
 */
export function makeProcessJob(
  deps: ProcessDeps,
  timings: Timings,
): (job: Job, token: string | undefined, signal: AbortSignal | undefined) => Promise<void> {
  return async (job, token, signal) => {
    if (signal === undefined) throw new TypeError('BullMQ passed no signal');
    // Once any job has ended, its worker looks at what is due.
    if (job.name === TICK) return await traceTick(deps, job);
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

async function traceTick({ causes }: ProcessDeps, job: Job): Promise<void> {
  const schedule = job.repeatJobKey ?? '';
  await inTrace('tick', { attributes: { schedule } }, async ({ reference }) => {
    causes.noteTick(schedule, reference);
  });
}

async function traceJob(deps: ProcessDeps, timings: Timings, running: Running): Promise<Ending> {
  const { job, signal } = running;
  const cause = job.data.cause ?? null;
  const attributes = { job: job.name, job_id: job.id, attempt: job.attemptsMade + 1 };
  deps.causes.noteStarted(job.name, cause);
  return await inTrace('job', { attributes, cause }, async (span) => {
    let turn: Turn | null = null;
    try {
      turn = await findTurn(deps, running);
      return turn === null ? DONE : await work(deps, timings, { ...running, turn }, span);
    } catch (error) {
      if (!signal.aborted) span.failWith(error);
      return await endAfter(error, deps, timings, { ...running, turn }).catch(
        (failure: unknown): Ending => ({ kind: 'failed', error: failure }),
      );
    }
  });
}

interface Running {
  readonly job: Job;
  readonly signal: AbortSignal;
}

async function findTurn(deps: ProcessDeps, { job, signal }: Running): Promise<Turn | null> {
  const { db, duties, log } = deps;
  const duty = duties.find(({ name }) => name === job.name);
  if (duty === undefined) {
    // A worker of another version has it, and makes it a new job.
    log.warn({ job: job.name, id: job.id }, 'job.unknown');
    return null;
  }
  signal.throwIfAborted();
  const turn = await chooseTurn(deps, job, await duty.findDue(await readMoment(db)));
  if (turn === null) log.debug({ job: job.name, id: job.id }, 'job.done_already');
  return turn;
}

async function work(
  { log }: ProcessDeps,
  timings: Timings,
  { job, signal, turn }: Running & { readonly turn: Turn },
  span: Span,
): Promise<Ending> {
  const onProgress = makeOnProgress(job, log);
  span.set({ due: turn.due.id });
  const outcome = await turn.due.run({ signal, onProgress, waitedMs: Date.now() - job.timestamp });
  if (outcome.kind === 'later') {
    await noteAwaited(job, turn);
    return { kind: 'put off', waitMs: Math.min(outcome.waitMs, timings.longestDelayMs) };
  }
  const after = await noteDone(job, turn);
  if (after === 'ends') return DONE;
  // Where something is left that failed, a new job would begin with the first backoff again.
  const waitMs = after === 'goes on' ? timings.stepAsideMs : backoffMs(job.attemptsMade, timings);
  return { kind: 'put off', waitMs };
}

async function endAfter(
  thrown: unknown,
  { log, pause }: ProcessDeps,
  timings: Timings,
  { job, signal, turn }: Running & { readonly turn: Turn | null },
): Promise<Ending> {
  const error = asDatabaseError(thrown);
  const reason = storableText(describeError(error));
  const aside: Ending = { kind: 'put off', waitMs: timings.stepAsideMs };
  if (signal.aborted) {
    if (signal.reason === LOCK_LOST) {
      log.warn({ job: job.name, id: job.id }, 'job.lock_lost');
      // It may be another worker's by now: the queue refuses whatever this one does with it.
      return { kind: 'failed', error: new Error(LOCK_LOST) };
    }
    log.info({ job: job.name, id: job.id, why: signal.reason }, 'job.given_back');
    return aside;
  }
  const decision = decideAfterFailure(error, timings);
  if (decision.kind === 'pause') {
    await pause(decision.error);
    return aside;
  }
  if (decision.kind === 'wait') {
    const waitMs = Math.min(decision.waitMs, timings.longestDelayMs);
    log.warn({ job: job.name, id: job.id, wait_ms: waitMs, reason }, 'job.put_off');
    if (turn !== null) await noteAwaited(job, turn);
    return { kind: 'put off', waitMs };
  }
  const attempt = job.attemptsMade + 1;
  const isLast = attempt >= (job.opts.attempts ?? 1);
  const due = turn?.due.id;
  if (decision.kind === 'retry' && !isLast) {
    log.warn({ job: job.name, id: job.id, due, attempt, reason }, 'job.failed_for_now');
    if (turn !== null) await noteFailure(job, turn);
    return { kind: 'failed', error: storableError(error, reason) };
  }
  log.error({ job: job.name, id: job.id, due, attempt, reason }, 'job.failed');
  if (decision.kind === 'fail' && turn !== null && due !== job.id) {
    await noteHopeless(job, turn);
    return aside;
  }
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
