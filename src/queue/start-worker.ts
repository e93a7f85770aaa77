// A worker from its start to its stop: the order in which its parts start, and stop.

import { hostname } from 'node:os';
import type { WorkerOptions } from 'bullmq';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { within } from '../within.ts';
import { wasGivenUp } from './add-due.ts';
import { openQueue } from './backend.ts';
import { makeDueItems } from './due-items.ts';
import { backoffMs } from './failure.ts';
import type { JobSource } from './job-source.ts';
import { keepJobs } from './keep-jobs.ts';
import { makePatiently } from './patiently.ts';
import { makeProcessJob } from './process-job.ts';
import { makeProgramWatch, type Probe } from './program-watch.ts';
import type { QueueWorker, WorkQueue } from './queue-server.ts';
import type { QueueSettings } from './queue-tables.ts';
import { checkSchedules, TICK } from './schedules.ts';
import { TIMINGS, type Timings } from './timings.ts';
import { readQueueId } from './worker-state.ts';

/**
 * More than there are subjects that may be due at once, beside exports, which wait for each other: payments always find
 * room. What is too much at once is for the pool and the request budget to say.
 */
const CONCURRENCY = 20;
/** Endless: beyond it a job would be given up, and deploys and restarts of the queue's server count as stalls. */
const MOST_STALLS = 1_000_000;
/** While the worker stops, its jobs are cancelled again and again: one may have begun since. */
const CANCEL_INTERVAL_MS = 50;
/** A queue that is away for so long into a stop is not waited for: its jobs go on elsewhere, as after a crash. */
const STOP_WITHOUT_QUEUE_MS = 3000;
/** Why the jobs of a worker that stops are aborted. */
const STOPS = 'the worker stops';

export interface WorkerDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly probe: Probe;
  /**
   * Throws: SchemaMismatch where a newer version has migrated the tables since, PersonalDataMismatch where the mirror
   * was switched since.
   */
  readonly checkMirror?: () => Promise<void>;
}

export interface WorkerInput {
  readonly queue: QueueSettings;
  readonly sources: readonly JobSource[];
  readonly timings?: Partial<Timings>;
  /** Ends a start that waits: for a database which went away, for the program, for another worker's tick. */
  readonly signal?: AbortSignal;
}

export interface RunningWorker {
  /** Has everything that is due done soon, by whichever worker is free. */
  lookNow(): void;
  /**
   * Ends with stop(). Throws ClockWrong where this machine's clock went wrong, SchemaMismatch where the tables are
   * another version's by now, and PersonalDataMismatch where the mirror was switched; nothing else is known to end it.
   */
  readonly ended: Promise<void>;
  /** Throws: DatabaseUnreachable where the queue does not answer. */
  checkQueue(): Promise<void>;
  /** Returns the jobs by state. Waits for as long as a Redis is away. Throws: what the queue throws. */
  countJobs(): Promise<Readonly<Record<string, number>>>;
  /** For whoever shows it; nobody but the worker changes it. */
  readonly queue: WorkQueue;
  /**
   * Lets what is under way commit, returns its jobs to the queue, and closes.
   *
   * Throws: an Error where that takes longer than the deadline; the process should then end all the same.
   */
  stop(): Promise<void>;
}

/**
 * Returns the worker, running. Postgres must have answered before, and be migrated: where it goes away meanwhile, the
 * start waits for it.
 *
 * Throws: ConfigError where a schedule is never due; ClockWrong; DatabaseUnreachable where Redis does not answer; the
 * signal's reason when aborted.
 */
export async function startWorker(deps: WorkerDeps, input: WorkerInput): Promise<RunningWorker> {
  const { db, log } = deps;
  const { sources } = input;
  const schedules = sources.flatMap((source) => source.schedules);
  const timings: Timings = { ...TIMINGS, ...input.timings };
  const signal = input.signal ?? new AbortController().signal;
  const patiently = makePatiently({ log }, signal);
  checkSchedules(schedules);
  const queueId = await patiently(() => readQueueId(db));
  const open = () => openQueue({ log }, input.queue, queueId);
  // A Redis that never answered is often a wrong address: the start fails, so that somebody hears of it.
  const backend = await (input.queue.redisUrl === null ? patiently(open) : open());
  const unfit = Promise.withResolvers<never>();
  const due = makeDueItems(db);
  const program = makeProgramWatch(deps, timings);
  const keeper = keepJobs({ ...deps, backend, sources, due, program, onUnfit: unfit.reject }, timings);
  let worker: QueueWorker | null = null;
  const processJob = makeProcessJob(
    {
      log,
      sources,
      due,
      program,
      tick: keeper.tick,
      wasGivenUp: (id) => wasGivenUp(backend.queue, id),
    },
    timings,
  );
  const closeAll = async () => {
    await keeper.stop();
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
  try {
    worker = await patiently(() => backend.makeWorker(processJob, workerOptions(timings)));
    await patiently(() => keeper.setUp(signal));
  } catch (error) {
    await close();
    throw error;
  }
  keeper.start();
  // What comes next may have waited for the job that ended.
  worker.on('completed', (job) => job.name !== TICK && keeper.lookAfter(job));
  worker.on('failed', (job) => job !== undefined && job.name !== TICK && keeper.lookAfter(job));
  const ended = Promise.race([worker.run(), unfit.promise]);
  log.info(
    { queue: backend.kind, schedules: schedules.map(({ name, pattern }) => `${name} ${pattern}`) },
    'worker.started',
  );
  return {
    lookNow: keeper.lookNow,
    ended,
    checkQueue: backend.check,
    async countJobs() {
      const { waiting = 0, prioritized = 0, ...others } = await backend.queue.getJobCounts();
      return { ...others, waiting: waiting + prioritized };
    },
    queue: backend.queue,
    stop: () => within(timings.stopDeadlineMs, close()),
  };
}

function workerOptions(timings: Timings): Omit<WorkerOptions, 'connection'> {
  return {
    name: `${hostname()}:${process.pid}`,
    concurrency: CONCURRENCY,
    lockDuration: timings.lockDurationMs,
    stalledInterval: timings.stalledIntervalMs,
    maxStalledCount: MOST_STALLS,
    drainDelay: timings.drainDelayMs / 1000,
    runRetryDelay: timings.runRetryMs,
    settings: { backoffStrategy: (attemptsMade) => backoffMs(attemptsMade, timings) },
  };
}
