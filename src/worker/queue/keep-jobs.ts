// Compares the items that are due by the tables with the jobs that exist, and adds the missing jobs: once a minute, and
// at once on demand. Runs in every worker, without a lock, and outside of the queue that it keeps.

import { ClockWrong, PersonalDataMismatch, SchemaMismatch } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import { CLOCK_TOLERANCE_MS, checkClock } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { addDue } from './add-due.ts';
import type { QueueBackend } from './backend.ts';
import { listDue } from './due-items.ts';
import type { JobSource } from './job-source.ts';
import type { ProgramWatch } from './program-watch.ts';
import { keepSchedules } from './schedules.ts';
import type { Timings } from './timings.ts';
import { readMoment, type WorkerMoment } from './worker-state.ts';

export interface KeepDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly backend: QueueBackend;
  readonly sources: readonly JobSource[];
  readonly program: ProgramWatch;
  /** Throws: an error of UNFIT if the mirror changed since this worker started. */
  readonly checkMirror?: () => Promise<void>;
}

export interface JobKeeper {
  /**
   * The first round: to be awaited before any job runs.
   *
   * Throws: the signal's reason when aborted; ClockWrong; the errors of the database and the queue.
   */
  setUp(signal: AbortSignal): Promise<void>;
  /** Ends with stop(). Throws: an error of UNFIT. */
  run(): Promise<void>;
  /**
   * Adds the missing jobs now, or as soon as the last comparison allows it. `cause` is the step of a trace for which
   * the jobs of the named sources are made.
   */
  wake(names?: readonly string[], cause?: string | null): void;
  /** Resolves once no round is under way. Idempotent: yes. */
  stop(): Promise<void>;
}

/**
 * Why a worker ends while it runs: its clock is wrong, a newer version has migrated the tables since, or the mirror was
 * switched to another way of keeping personal data.
 */
const UNFIT = [ClockWrong, SchemaMismatch, PersonalDataMismatch];

/** The least time between two comparisons: a batch of requests, or jobs without work, may ask for many. */
const PAUSE_MS = 100;

/** Returns the keeper, not yet started. */
export function keepJobs(deps: KeepDeps, timings: Timings): JobKeeper {
  const { db, log, backend, sources, program } = deps;
  const { queue } = backend;
  const schedules = sources.flatMap((source) => source.schedules);
  const warn = makeQuietWarning({ log }, 'watchdog.failed');
  const warnOfClock = makeQuietWarning({ log }, 'clock.differs');
  const stopping = new AbortController();
  const causes = new Map<string, string>();
  let nextRoundMs = performance.now() + timings.watchIntervalMs;
  let restMs = timings.watchIntervalMs;
  let waking = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    for (;;) {
      await sleepOrAbort(Math.max(0, restMs), waking.signal);
      if (stopping.signal.aborted) return;
      waking = new AbortController();
      await compare().catch((error: unknown) => {
        if (UNFIT.some((kind) => error instanceof kind)) throw error;
        nextRoundMs = 0;
        restMs = timings.compareAgainMs;
        if (!stopping.signal.aborted) warn(error);
      });
      await sleepOrAbort(PAUSE_MS, stopping.signal);
    }
  }

  async function compare(): Promise<void> {
    const isRound = performance.now() >= nextRoundMs;
    if (isRound) nextRoundMs = performance.now() + timings.watchIntervalMs;
    restMs = nextRoundMs - performance.now();
    if (isRound) {
      await deps.checkMirror?.();
      await keepQueue();
    }
    // Asking a Redis that is away would not fail, but wait.
    else await backend.check();
    let moment = await readMoment(db);
    if (moment.isProgramAway && (await program.tryAgain(stopping.signal))) moment = await readMoment(db);
    if (moment.isProgramAway) restMs = Math.min(restMs, timings.compareAgainMs);
    await addAll(moment);
  }

  async function keepQueue(): Promise<void> {
    const nowMs = await checkClock(db, warnOfClock);
    await backend.check();
    await freeFromFuture(deps, nowMs, timings);
    await keepSchedules({ db, queue }, schedules, nowMs);
  }

  /** Asks all sources. Throws: the first failure, at the end. */
  async function addAll(moment: WorkerMoment): Promise<void> {
    const failures: unknown[] = [];
    for (const source of sources) {
      await addOf(source, moment).catch((error: unknown) => failures.push(error));
    }
    for (const failure of failures.slice(1)) warn(failure);
    if (failures.length > 0) throw failures[0];
  }

  async function addOf(source: JobSource, moment: WorkerMoment): Promise<void> {
    const { name } = source;
    const cause = causes.get(name) ?? null;
    causes.delete(name);
    const items = await listDue(source, moment);
    for (const id of await addDue(queue, items, { name, cause, mostAttempts: timings.mostAttempts })) {
      log.info({ job: name, id }, 'job.added');
    }
  }

  return {
    async setUp(signal) {
      await keepQueue();
      await program.tryFirst(signal);
      await addAll(await readMoment(db));
    },
    run() {
      backend.onReturn(() => {
        nextRoundMs = 0;
        waking.abort();
      });
      running = run();
      return running;
    },
    wake(names = [], cause = null) {
      if (cause !== null) for (const name of names) causes.set(name, cause);
      waking.abort();
    },
    async stop() {
      stopping.abort();
      waking.abort();
      // The caller of run() has its error.
      await running.catch(() => undefined);
    },
  };
}

// A worker whose clock was ahead leaves delays in the queue that end further in the future than any of ours can.
// (schedules.ts moves its ticks back.)

/** Frees the jobs whose delay ends later than possible; `nowMs` is the database's clock. Idempotent: yes. */
async function freeFromFuture(
  { log, backend: { queue } }: Pick<KeepDeps, 'log' | 'backend'>,
  nowMs: number,
  { longestDelayMs }: Pick<Timings, 'longestDelayMs'>,
): Promise<void> {
  const possible = await queue.getDelayedCount(nowMs + longestDelayMs + CLOCK_TOLERANCE_MS);
  const beyond = await queue.getDelayed(possible);
  // The next tick of a schedule may be a year ahead.
  const delayed = beyond.filter((job) => job.repeatJobKey === undefined);
  // Not promote(): on Postgres that also takes a job back which a worker took at the same moment.
  for (const job of delayed) await job.changeDelay(0);
  if (delayed.length > 0) log.warn({ delays: delayed.length }, 'queue.freed_from_future');
}
