// Compares what is due by the tables with the jobs that exist, and adds what is missing: once a minute, and at once
// when something asks for it. Runs in every worker, without a lock, and not as a job: what it keeps is the queue.

import { checkClock, readClock } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { ClockWrong, PersonalDataMismatch, SchemaMismatch } from '../errors.ts';
import type { Logger } from '../log.ts';
import { sleepOrAbort } from '../sleep.ts';
import { addDue } from './add-due.ts';
import type { QueueBackend } from './backend.ts';
import type { DueItems } from './due-items.ts';
import { freeFromFuture } from './free-from-future.ts';
import type { JobSource } from './job-source.ts';
import type { ProgramWatch } from './program-watch.ts';
import { makeQuietWarning } from './quiet-warning.ts';
import { keepSchedules } from './schedules.ts';
import type { Timings } from './timings.ts';
import { readMoment, type WorkerMoment } from './worker-state.ts';

export interface KeepDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly backend: QueueBackend;
  readonly sources: readonly JobSource[];
  readonly due: DueItems;
  readonly program: ProgramWatch;
  /** Throws: what of UNFIT makes the mirror another one than this worker was started for. */
  readonly checkMirror?: () => Promise<void>;
  /** Called where this worker must not go on: its clock is wrong, or the mirror is another one by now. */
  readonly onUnfit: (error: unknown) => void;
}

export interface JobKeeper {
  /**
   * The first round: to be awaited before any job runs.
   *
   * Throws: the signal's reason when aborted; what fails, such as ClockWrong.
   */
  setUp(signal: AbortSignal): Promise<void>;
  start(): void;
  /** Adds what is due now, or as soon as it may. */
  lookNow(): void;
  /** The same, after a job of the source has ended: what comes next is done for the same step of a trace. */
  lookAfter(job: { readonly name: string; readonly data: unknown }): void;
  /** Adds what is due of the sources that have the schedule; of all without one. */
  tick(schedule: string | undefined, cause: string | null): Promise<void>;
  /** Resolves once no round is under way. Idempotent: yes. */
  stop(): Promise<void>;
}

/**
 * Why a worker ends while it runs: a newer version has migrated the tables since, or the mirror was switched to another
 * way of keeping personal data.
 */
const UNFIT = [SchemaMismatch, PersonalDataMismatch];

/** Between two looks, however often one is asked for: by a batch of requests, or by jobs that find nothing to do. */
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
      await look().catch((error: unknown) => {
        nextRoundMs = 0;
        restMs = timings.lookAgainMs;
        if (error instanceof ClockWrong) deps.onUnfit(error);
        else if (!stopping.signal.aborted) warn(error);
      });
      await sleepOrAbort(PAUSE_MS, stopping.signal);
    }
  }

  async function look(): Promise<void> {
    const isRound = performance.now() >= nextRoundMs;
    if (isRound) {
      nextRoundMs = performance.now() + timings.watchIntervalMs;
      await checkClock(db, warnOfClock);
      await checkMirror();
    }
    restMs = nextRoundMs - performance.now();
    // Asking a Redis that is away would not fail, but wait.
    await backend.check();
    if (isRound) {
      const { nowMs } = await readClock(db);
      await freeFromFuture(deps, nowMs, timings);
      await keepSchedules({ db, queue }, schedules, nowMs);
    }
    let moment = await readMoment(db);
    if (moment.isProgramAway && (await program.tryAgain(stopping.signal))) moment = await readMoment(db);
    if (moment.isProgramAway) restMs = Math.min(restMs, timings.lookAgainMs);
    await addAll(moment);
  }

  async function checkMirror(): Promise<void> {
    try {
      await deps.checkMirror?.();
    } catch (error) {
      if (UNFIT.some((kind) => error instanceof kind)) deps.onUnfit(error);
      throw error;
    }
  }

  /** Throws: why the first of the sources could not say what is due, once all were asked. */
  async function addAll(moment: WorkerMoment): Promise<void> {
    const failures: unknown[] = [];
    for (const source of sources) {
      const cause = causes.get(source.name) ?? null;
      causes.delete(source.name);
      await addOf(source, moment, cause).catch((error: unknown) => failures.push(error));
    }
    for (const failure of failures.slice(1)) warn(failure);
    if (failures.length > 0) throw failures[0];
  }

  async function addOf(source: JobSource, moment: WorkerMoment, cause: string | null): Promise<void> {
    const { name } = source;
    const { mostAttempts } = timings;
    const items = await deps.due.list(source, moment);
    for (const id of await addDue(queue, items, { name, cause, mostAttempts })) {
      log.info({ job: name, id }, 'job.added');
    }
  }

  return {
    async setUp(signal) {
      await checkClock(db, warnOfClock);
      await program.tryFirst(signal);
      const { nowMs } = await readClock(db);
      await freeFromFuture(deps, nowMs, timings);
      await keepSchedules({ db, queue }, schedules, nowMs);
      await addAll(await readMoment(db));
    },
    start() {
      running = run();
      backend.onReturn(() => {
        nextRoundMs = 0;
        waking.abort();
      });
    },
    lookNow: () => waking.abort(),
    lookAfter({ name, data }) {
      const { cause } = data as { readonly cause?: string };
      if (cause !== undefined) causes.set(name, cause);
      waking.abort();
    },
    async tick(schedule, cause) {
      const moment = await readMoment(db);
      for (const source of sources) {
        const isMeant = schedule === undefined || source.schedules.some(({ name }) => name === schedule);
        if (isMeant) await addOf(source, moment, cause);
      }
    },
    async stop() {
      stopping.abort();
      waking.abort();
      await running;
    },
  };
}
