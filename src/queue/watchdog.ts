// Keeps the queue as the tables say it should be: a job for everything that is due, schedules that move, a pause where
// the program refuses the secret, and nothing that a clock which was ahead left behind. Runs in every worker, and not
// as a job: what it fixes is the queue.

import { checkClock, readClock } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { withSessionLock } from '../db/session-lock.ts';
import { describeError } from '../describe-error.ts';
import {
  type AppError,
  ClockWrong,
  PersonalDataMismatch,
  ProgramChanged,
  SchemaMismatch,
} from '../errors.ts';
import type { Logger } from '../log.ts';
import type { QueueBackend } from './backend.ts';
import type { Causes } from './causes.ts';
import type { Duty } from './duty.ts';
import { ensureJob } from './ensure-job.ts';
import { isPausing } from './failure.ts';
import { freeFromFuture } from './free-from-future.ts';
import { makePacer } from './pacer.ts';
import { noteAcceptance, noteRefusal, readPause } from './program-pause.ts';
import type { WorkQueue } from './queue-server.ts';
import { makeQuietWarning } from './quiet-warning.ts';
import { reviveSchedules, setSchedules } from './schedules.ts';
import type { Timings } from './timings.ts';
import { readMoment } from './worker-state.ts';

/** Asks the API for as little as it can. Throws: what `isPausing`; another error where no usable answer came. */
export type Probe = (signal: AbortSignal) => Promise<void>;

export interface WatchdogDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly backend: QueueBackend;
  readonly duties: readonly Duty[];
  readonly causes: Causes;
  readonly probe: Probe;
  /** Throws: what of UNFIT makes the mirror another one than this worker was started for. */
  readonly checkMirror?: () => Promise<void>;
  /** Called where this worker must not go on: its clock is wrong, or the mirror is another one by now. */
  readonly onUnfit: (error: unknown) => void;
}

export interface Watchdog {
  /**
   * The first round, patient and complete: to be awaited before any job runs.
   *
   * Throws: the signal's reason when aborted; what fails, such as ClockWrong.
   */
  setUp(signal: AbortSignal): Promise<void>;
  start(): void;
  /** Looks now, or as soon as it may, whether everything that is due has a job. */
  lookNow(): void;
  /** Pauses the queue because of the error; only the first of a pause is logged. */
  pause(error: AppError): Promise<void>;
  /** Resolves once no round is under way. Idempotent: yes. */
  stop(): Promise<void>;
}

/**
 * Why a worker ends while it runs: a newer version has migrated the tables since, or the mirror was switched to another
 * way of keeping personal data.
 */
const UNFIT = [SchemaMismatch, PersonalDataMismatch];

/** Held by one worker at a time: BullMQ's schedulers break when two set them, and one probe is enough. */
const LOCK = 'queue of';
/** A start does not wait longer than this for a program that does not answer. */
const PROBE_TIMEOUT_MS = 10_000;
/** Workers that start together try the secret once: it is most likely the same. */
const SAME_START_MS = 10_000;

/** Returns the watchdog, not yet started. */
export function makeWatchdog(deps: WatchdogDeps, timings: Timings): Watchdog {
  const { db, log, backend } = deps;
  const { queue } = backend;
  const schedules = deps.duties.flatMap(({ alarms }) => alarms);
  const warn = makeQuietWarning({ log }, 'watchdog.failed');
  const warnOfClock = makeQuietWarning({ log }, 'clock.differs');
  const stopping = new AbortController();
  let nextTendingMs = 0;
  const pacer = makePacer(async () => {
    await look().catch((error: unknown) => {
      if (error instanceof ClockWrong) deps.onUnfit(error);
      else if (!stopping.signal.aborted) warn(error);
    });
    return nextTendingMs - performance.now();
  });

  async function tend(): Promise<void> {
    await withSessionLock(db, { name: LOCK, isPatient: false }, async () => {
      const { isProbeDue } = await readPause(db);
      if (isProbeDue) await tryProgram(deps, timings, stopping.signal);
      const hasRun = await alignPause(db, queue);
      const { nowMs } = await readClock(db);
      await freeFromFuture(deps, nowMs, timings);
      // In a pause no schedule moves, and after it each goes on from the tick that waited.
      if (!hasRun) return;
      const late = { nowMs, graceMs: timings.tickGraceMs };
      for (const name of await reviveSchedules(queue, schedules, late, stopping.signal)) {
        log.warn({ schedule: name }, 'schedule.revived');
      }
    });
  }

  async function look(): Promise<void> {
    const isToTend = performance.now() >= nextTendingMs;
    if (isToTend) {
      nextTendingMs = performance.now() + timings.watchIntervalMs;
      await checkClock(db, warnOfClock);
      await checkMirror();
    }
    // Asking a Redis that is away would not fail, but wait.
    await backend.check();
    if (isToTend) await tend();
    await ensureJobs(deps, timings, warn);
  }

  async function checkMirror(): Promise<void> {
    try {
      await deps.checkMirror?.();
    } catch (error) {
      if (UNFIT.some((kind) => error instanceof kind)) deps.onUnfit(error);
      throw error;
    }
  }

  return {
    async setUp(signal) {
      await checkClock(db, warnOfClock);
      await withSessionLock(db, { name: LOCK, isPatient: true }, async () => {
        const { probedAgoMs } = await readPause(db);
        // A secret that was corrected takes effect with the restart that brought it.
        if (probedAgoMs === null || probedAgoMs > SAME_START_MS) await tryProgram(deps, timings, signal);
        await alignPause(db, queue);
        await freeFromFuture(deps, (await readClock(db)).nowMs, timings);
        await setSchedules(queue, schedules, signal);
      });
      await ensureJobs(deps, timings, warn);
    },
    start() {
      nextTendingMs = performance.now() + timings.watchIntervalMs;
      pacer.start(timings.watchIntervalMs);
      backend.onReturn(() => {
        nextTendingMs = 0;
        pacer.askNow();
      });
    },
    lookNow: pacer.askNow,
    async pause(error) {
      if (await noteRefusal(db, timings, { isProbe: false, code: error.code })) logPause(log, error);
      await queue.pause();
    },
    async stop() {
      stopping.abort();
      await pacer.stop();
    },
  };
}

/** Throws: the signal's reason when aborted. */
async function tryProgram(
  { db, log, probe }: WatchdogDeps,
  timings: Timings,
  signal: AbortSignal,
): Promise<void> {
  try {
    await probe(AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
  } catch (error) {
    signal.throwIfAborted();
    // A program that is down has not refused anything, nor accepted.
    if (!isPausing(error)) {
      log.warn({ reason: describeError(error) }, 'program.silent');
    } else if (await noteRefusal(db, timings, { isProbe: true, code: error.code })) {
      logPause(log, error);
    }
    return;
  }
  if (await noteAcceptance(db)) log.info('program.secret_accepted');
}

const PAUSE_FIX =
  'the queue is paused, and nothing is lost. Correct AFFILIATE_API_SECRET and restart the worker, or correct its file (AFFILIATE_API_SECRET_FILE), which is read again with the next try; it goes on by itself once the secret is accepted';

function logPause(log: Logger, error: AppError): void {
  if (error instanceof ProgramChanged) log.error({ reason: error.message }, 'program.changed');
  else log.error({ reason: describeError(error), fix: PAUSE_FIX }, 'program.secret_refused');
}

/** Pauses the queue, or lets it go on. Returns whether it was not paused before, and is not now. */
async function alignPause(db: Database, queue: WorkQueue): Promise<boolean> {
  const isRefused = (await readPause(db)).code !== null;
  const isPaused = await queue.isPaused();
  if (isRefused && !isPaused) await queue.pause();
  if (!isRefused && isPaused) await queue.resume();
  return !isRefused && !isPaused;
}

/**
 * A duty that cannot say what is due keeps no other from its job.
 *
 * Throws: why the first of those could not, once all were asked; `warn` says why the others could not.
 */
async function ensureJobs(
  { db, backend, duties, causes, log }: WatchdogDeps,
  { mostAttempts }: Timings,
  warn: (error: unknown) => void,
): Promise<void> {
  const moment = await readMoment(db);
  const failures: unknown[] = [];
  for (const duty of duties) {
    try {
      const cause = causes.of(duty.name);
      const due = await duty.findDue(moment);
      if (due.length === 0) causes.forget(duty.name, cause);
      const id = await ensureJob(backend.queue, { name: duty.name, mostAttempts }, due, cause);
      if (id !== null) log.info({ job: duty.name, id }, 'job.added');
    } catch (error) {
      failures.push(error);
    }
  }
  for (const failure of failures.slice(1)) warn(failure);
  if (failures.length > 0) throw failures[0];
}
