// A worker from its start to its stop: the order in which its parts start, and stop.

import { hostname } from 'node:os';
import type { Job, WorkerOptions } from 'bullmq';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/within.ts';
import type { Database } from '../../db/database.ts';
import { wasGivenUp } from './add-due.ts';
import { openQueue, type QueueWorker, type WorkQueue } from './backend.ts';
import { makeDueItems } from './due-items.ts';
import { backoffMs } from './failure.ts';
import type { JobSource } from './job-source.ts';
import { keepJobs } from './keep-jobs.ts';
import { makeProcessJob } from './process-job.ts';
import { makeProgramWatch, type Probe } from './program-watch.ts';
import type { QueueSettings } from './queue-tables.ts';
import { checkSchedules, describeTick, type Schedule, TICK, tickAfter } from './schedules.ts';
import { makeStartRetry } from './start-retry.ts';
import { TIMINGS, type Timings } from './timings.ts';
import { readQueueId } from './worker-state.ts';

/**
 * More than the subjects that may be due at once, without exports, which wait for each other: payments always find
 * room. The pool and the request budget bound the rest.
 */
const CONCURRENCY = 20;
/** Endless: beyond it a job would be given up, and deploys and restarts of the queue's server count as stalls. */
const MOST_STALLS = 1_000_000;
/** While the worker stops, its jobs are cancelled this often: one may have begun since. */
const CANCEL_INTERVAL_MS = 50;
/** A stop waits this long for a queue that is away: then its jobs go on elsewhere, as after a crash. */
const STOP_WITHOUT_QUEUE_MS = 3000;
/** The reason with which the jobs of a worker that stops are aborted. */
const STOPS = 'the worker stops';

export interface WorkerDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly probe: Probe;
  /**
   * Throws: SchemaMismatch if a newer version has migrated the tables since, PersonalDataMismatch if the mirror
   * was switched since.
   */
  readonly checkMirror?: () => Promise<void>;
}

export interface WorkerInput {
  readonly queue: QueueSettings;
  readonly sources: readonly JobSource[];
  readonly timings?: Partial<Timings>;
  /** Ends a start that waits for the database or the API. */
  readonly signal?: AbortSignal;
}

export interface RunningWorker {
  /** Adds jobs for everything that is due; any worker that is free takes them. */
  wake(): void;
  /**
   * Ends with stop(). Throws ClockWrong if this machine's clock went wrong, SchemaMismatch if the tables are
   * another version's by now, and PersonalDataMismatch if the mirror was switched; nothing else is known to end it.
   */
  readonly ended: Promise<void>;
  /** Throws: DatabaseUnreachable if the queue does not answer. */
  checkQueue(): Promise<void>;
  /** Returns the jobs by state. Waits for as long as a Redis is away. Throws: what the queue throws. */
  countJobs(): Promise<Readonly<Record<string, number>>>;
  /** For the queue's board; only the worker changes it. */
  readonly queue: WorkQueue;
  /**
   * Lets running jobs commit, returns them to the queue, and closes.
   *
   * Throws: an Error if that takes longer than the deadline; the process should then end all the same.
   */
  stop(): Promise<void>;
}

/**
 * Returns the worker, running. Postgres must have answered before, and be migrated: if it goes away meanwhile, the
 * start waits for it.
 *
 * Throws: ConfigError if a schedule is never due; ClockWrong; DatabaseUnreachable if Redis does not answer; the
 * signal's reason when aborted.
 */
export async function startWorker(deps: WorkerDeps, input: WorkerInput): Promise<RunningWorker> {
  const { db, log } = deps;
  const { sources } = input;
  const schedules = sources.flatMap((source) => source.schedules);
  const timings: Timings = { ...TIMINGS, ...input.timings };
  const signal = input.signal ?? new AbortController().signal;
  const retry = makeStartRetry({ log }, signal);
  checkSchedules(schedules);
  const queueId = await retry(() => readQueueId(db));
  const open = () => openQueue({ log }, input.queue, queueId);
  // A Redis that never answered is often a wrong address: the start fails, so that the user hears of it.
  const backend = await (input.queue.redisUrl === null ? retry(open) : open());
  const due = makeDueItems(db);
  const program = makeProgramWatch(deps, timings);
  const keeper = keepJobs({ ...deps, backend, sources, program }, timings);
  let worker: QueueWorker | null = null;
  const processJob = makeProcessJob(
    {
      log,
      sources,
      due,
      program,
      wake: keeper.wake,
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
    worker = await retry(() => backend.makeWorker(processJob, workerOptions(timings)));
    await retry(() => keeper.setUp(signal));
  } catch (error) {
    await close();
    throw error;
  }
  // The next item may have waited for the job that ended.
  const wakeAfter = (job?: Job) => {
    if (job !== undefined && job.name !== TICK) keeper.wake([job.name], job.data.cause);
  };
  worker.on('completed', wakeAfter);
  worker.on('failed', wakeAfter);
  const ended = Promise.race([worker.run(), keeper.run()]);
  log.info({ queue: backend.kind, schedules: schedules.map(describeSchedule) }, 'worker.started');
  return {
    wake: () => keeper.wake(),
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

function describeSchedule(schedule: Schedule): string {
  const { name, pattern } = schedule;
  const next = tickAfter(schedule, Date.now());
  // It cannot be counted through some changes of the clocks (checkSchedules).
  return Number.isFinite(next)
    ? `${name} ${pattern}, next at ${describeTick(schedule, next)}`
    : `${name} ${pattern}`;
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
