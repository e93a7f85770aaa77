// A worker from its start to its stop: the order in which its parts start, and stop. serve-program.ts has those of a
// program.

import { hostname } from 'node:os';
import type { Job, WorkerOptions } from 'bullmq';
import type { Logger } from '../../base/log.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import { within } from '../../base/within.ts';
import type { Database } from '../../db/database.ts';
import { wasGivenUp } from './add-due.ts';
import { openQueue, type QueueWorker, type WorkQueue } from './backend.ts';
import { backoffMs } from './failure.ts';
import { makeQueueKeeper } from './keep-queue.ts';
import { makeProcessJob } from './process-job.ts';
import type { QueueSettings } from './queue-tables.ts';
import { fromQueued, programOf } from './queued-name.ts';
import { makeRunningJobs } from './running-jobs.ts';
import { TICK } from './schedules.ts';
import { type Served, serveProgram } from './serve-program.ts';
import type { ServedProgram, Serving } from './served-program.ts';
import { countSlots } from './slots.ts';
import { makeStartRetry } from './start-retry.ts';
import { TIMINGS, type Timings } from './timings.ts';

/** Endless: beyond it a job would be given up, and deploys and restarts of the queue's server count as stalls. */
const MOST_STALLS = 1_000_000;
/** While the worker stops, its jobs are cancelled this often: one may have begun since. */
const CANCEL_INTERVAL_MS = 50;
/** A stop waits this long for a queue that is away: then its jobs go on elsewhere, as after a crash. */
const STOP_WITHOUT_QUEUE_MS = 3000;
/** The reason with which the jobs of a worker that stops are aborted. */
const STOPS = 'the worker stops';
/** The golden ratio: multiples of it spread over an interval evenly, however many there will be. */
const SPREAD = 0.618_033_988_749_895;

export interface WorkerDeps {
  /** For the clock: of any schema. */
  readonly db: Database;
  readonly log: Logger;
}

export interface WorkerInput {
  readonly queue: QueueSettings;
  /** Tells the queue from every other in the same Redis (worker-state.ts). */
  readonly queueId: string;
  readonly timings?: Partial<Timings>;
  /** Ends a start that waits for the database. */
  readonly signal?: AbortSignal;
  /** The most jobs at once. */
  readonly mostJobs: number;
  /**
   * Whether a program of that name exists, whether or not it is served. The schedules of all others are removed. Left
   * out: only the program that the environment describes does.
   */
  readonly isListed?: (program: string | null) => boolean;
}

export interface RunningWorker {
  /**
   * Serves the program, from its first round on. Its database must have answered before, and be migrated: if it goes
   * away meanwhile, this waits for it. A name is served once at a time.
   *
   * Throws: ConfigError if a schedule is never due; the errors of the database; the signal's reason when aborted.
   */
  serve(program: ServedProgram, signal: AbortSignal): Promise<Serving>;
  /** Ends with stop(). Throws ClockWrong if this machine's clock went wrong; nothing else is known to end it. */
  readonly ended: Promise<void>;
  /** Throws: DatabaseUnreachable if the queue does not answer. */
  checkQueue(): Promise<void>;
  /** Returns the jobs by state. Waits for as long as a Redis is away. Throws: what the queue throws. */
  countJobs(): Promise<Readonly<Record<string, number>>>;
  /** For the queue's board; only the worker changes it. */
  readonly queue: WorkQueue;
  /**
   * Lets running jobs commit, returns them to the queue, and closes. Ends every Serving.
   *
   * Throws: an Error if that takes longer than the deadline; the process should then end all the same.
   */
  stop(): Promise<void>;
}

/**
 * Returns the worker, which takes jobs once a program is served. Postgres must have answered before: if it goes away
 * meanwhile, the start waits for it.
 *
 * Throws: ClockWrong; DatabaseUnreachable if Redis does not answer; the signal's reason when aborted.
 */
export async function startWorker(deps: WorkerDeps, input: WorkerInput): Promise<RunningWorker> {
  const { db, log } = deps;
  const { mirrorSchema } = input.queue;
  const isListed = input.isListed ?? ((program) => program === null);
  const timings: Timings = { ...TIMINGS, ...input.timings };
  const retry = makeStartRetry({ log }, input.signal ?? new AbortController().signal);
  const open = () => openQueue({ log }, input.queue, input.queueId);
  // A Redis that never answered is often a wrong address: the start fails, so that the user hears of it.
  const backend = await (input.queue.redisUrl === null ? retry(open) : open());
  const served = new Map<string | null, Served>();
  const listSchedules = () => [...served.values()].flatMap(({ schedules }) => schedules);
  const isGone = (name: string) => {
    const program = programOf(name);
    if (!isListed(program)) return true;
    return served.has(program) && listSchedules().every((schedule) => schedule.name !== name);
  };
  const warn = makeQuietWarning({ log }, 'watchdog.failed');
  const keeper = makeQueueKeeper({ ...deps, backend, mirrorSchema, listSchedules, isGone, warn }, timings);
  const readSlots = () => countSlots(served.size, input.mostJobs);
  const running = makeRunningJobs(readSlots);
  const processJob = makeProcessJob(
    {
      findOwner: (program) => served.get(program) ?? null,
      hasSlot: running.hasSlot,
      wasGivenUp: (id) => wasGivenUp(backend.queue, id),
    },
    timings,
  );
  let worker: QueueWorker | null = null;
  const closeAll = async () => {
    await Promise.all([keeper.stop(), ...[...served.values()].map(({ stopRounds }) => stopRounds())]);
    const closed = worker?.close();
    const timer = setInterval(() => worker?.cancelAllJobs(STOPS), CANCEL_INTERVAL_MS);
    worker?.cancelAllJobs(STOPS);
    await Promise.resolve(closed).finally(() => clearInterval(timer));
    await backend.close();
  };
  const close = async () => {
    const giveUp = setInterval(backend.giveUpLost, STOP_WITHOUT_QUEUE_MS);
    await closeAll().finally(() => clearInterval(giveUp));
  };
  const makeWorker = () =>
    backend.makeWorker(running.noting(processJob), workerOptions(timings, readSlots().total));
  try {
    worker = await retry(makeWorker);
    await retry(keeper.setUp);
  } catch (error) {
    await close();
    throw error;
  }
  const queueWorker = worker;
  // The next item may have waited for the job that ended.
  const wakeAfter = (job?: Job) => {
    if (job === undefined || fromQueued(job.name) === TICK) return;
    served.get(programOf(job.name))?.wake([fromQueued(job.name)], job.data.cause);
  };
  queueWorker.on('completed', wakeAfter);
  queueWorker.on('failed', wakeAfter);
  backend.onReturn(() => {
    for (const { compareAnew } of served.values()) compareAnew();
  });
  const { promise: jobsEnded, resolve: end, reject: fail } = Promise.withResolvers<void>();
  let takesJobs = false;
  let rounds = 0;
  const spreadMs = () => timings.watchIntervalMs * (1 - ((rounds++ * SPREAD) % 1));
  return {
    async serve(program, signal) {
      const parts = { db, log, backend, mirrorSchema, warnOfOutage: warn, firstRestMs: spreadMs() };
      const begun = await serveProgram(program, parts, timings, signal);
      // A worker that was stopped meanwhile takes no jobs.
      signal.throwIfAborted();
      served.set(program.name, begun.served);
      queueWorker.concurrency = readSlots().total;
      if (!takesJobs) queueWorker.run().then(end, fail);
      takesJobs = true;
      const stop = async () => {
        if (served.get(program.name) === begun.served) served.delete(program.name);
        queueWorker.concurrency = readSlots().total;
        await begun.served.stopRounds();
        await running.end(program.name, (id) => queueWorker.cancelJob(id, STOPS));
      };
      return {
        ended: begun.ended,
        wake: begun.served.wake,
        stop: () => within(timings.stopDeadlineMs, stop()),
      };
    },
    ended: Promise.race([jobsEnded, keeper.run()]),
    checkQueue: backend.check,
    async countJobs() {
      const { waiting = 0, prioritized = 0, ...others } = await backend.queue.getJobCounts();
      return { ...others, waiting: waiting + prioritized };
    },
    queue: backend.queue,
    stop: () => within(timings.stopDeadlineMs, close()),
  };
}

function workerOptions(timings: Timings, concurrency: number): Omit<WorkerOptions, 'connection'> {
  return {
    name: `${hostname()}:${process.pid}`,
    concurrency,
    lockDuration: timings.lockDurationMs,
    stalledInterval: timings.stalledIntervalMs,
    maxStalledCount: MOST_STALLS,
    drainDelay: timings.drainDelayMs / 1000,
    runRetryDelay: timings.runRetryMs,
    settings: { backoffStrategy: (attemptsMade) => backoffMs(attemptsMade, timings) },
  };
}
