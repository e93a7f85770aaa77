// Keeps the queue as the tables say it should be: schedules that move, a job for everything that is wanted, a pause
// where the program refuses the secret, and nothing that a clock which was ahead left behind. Runs in every worker,
// one at a time, and not as a job: what it fixes is the queue.

import { checkClock, readClock } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { withSessionLock } from '../db/session-lock.ts';
import { transact } from '../db/transact.ts';
import { ApiUnauthorized, ClockWrong, describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { QueueBackend, WorkQueue } from './backend.ts';
import { ensureEnqueued } from './enqueue.ts';
import { freeFromFuture } from './free-from-future.ts';
import { noteAcceptance, noteRefusal, readPause } from './program-pause.ts';
import { makeQuietWarning } from './quiet-warning.ts';
import { claimMissedTick, moveBackTicks, reviveSchedules, type Schedule, setSchedules } from './schedules.ts';
import type { Timings } from './timings.ts';
import { type JobKinds, listWanted, wantJobs } from './wanted-jobs.ts';

/** Asks the program for as little as it can. Throws: ApiUnauthorized; another error where no usable answer came. */
export type Probe = (signal: AbortSignal) => Promise<void>;

export interface WatchdogDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly backend: QueueBackend;
  readonly kinds: JobKinds;
  readonly schedules: readonly Schedule[];
  readonly probe: Probe;
  /** Called where this worker must not go on: its clock is wrong. */
  readonly onUnfit: (error: ClockWrong) => void;
}

export interface Watchdog {
  /**
   * The first round, patient and complete: to be awaited before any job runs. Throws what fails, such as ClockWrong.
   */
  setUp(): Promise<void>;
  start(): void;
  /** Looks now instead of at the next interval. */
  lookNow(): void;
  /** Pauses the queue because the program answered 401; only the first of a pause is logged. */
  pause(error: unknown): Promise<void>;
  /** Resolves once no round is under way. Idempotent: yes. */
  stop(): Promise<void>;
}

/** Held by one worker at a time: BullMQ's schedulers break when two set them, and one probe is enough. */
const LOCK = 'queue of';
/** A start does not wait longer than this for a program that does not answer. */
const PROBE_TIMEOUT_MS = 10_000;
/** Workers that start together try the secret once: it is most likely the same. */
const SAME_START_MS = 10_000;

/** Returns the watchdog, not yet started. */
export function makeWatchdog(deps: WatchdogDeps, timings: Timings): Watchdog {
  const { db, log, backend, schedules } = deps;
  const { queue } = backend;
  const warn = makeQuietWarning({ log }, 'watchdog.failed');
  const warnOfClock = makeQuietWarning({ log }, 'clock.differs');
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let isUnderWay = false;

  async function look(): Promise<void> {
    await checkClock(db, warnOfClock);
    // Asking a Redis that is away would not fail, but wait.
    await backend.check();
    await withSessionLock(db, { name: LOCK, isPatient: false }, async () => {
      const { isProbeDue } = await readPause(db);
      if (isProbeDue) await tryProgram(deps, timings, stopping.signal);
      await alignPause(db, queue);
      const nowMs = await undoWrongClock(deps, timings);
      await makeUpForTicks(deps, timings.tickGraceMs);
      const graceMs = timings.tickGraceMs;
      for (const name of await reviveSchedules({ db, queue }, schedules, { nowMs, graceMs })) {
        log.warn({ schedule: name }, 'schedule.revived');
      }
      await enqueueWanted(deps);
    });
  }

  function lookNow(): void {
    if (isUnderWay || stopping.signal.aborted) return;
    isUnderWay = true;
    clearTimeout(timer);
    round = look()
      .catch((error: unknown) => {
        if (error instanceof ClockWrong) deps.onUnfit(error);
        else if (!stopping.signal.aborted) warn(error);
      })
      .finally(() => {
        isUnderWay = false;
        if (!stopping.signal.aborted) timer = setTimeout(lookNow, timings.watchIntervalMs);
      });
  }

  return {
    async setUp() {
      await checkClock(db, warnOfClock);
      await withSessionLock(db, { name: LOCK, isPatient: true }, async () => {
        const { probedAgoMs } = await readPause(db);
        // A secret that was corrected takes effect with the restart that brought it.
        if (probedAgoMs === null || probedAgoMs > SAME_START_MS) {
          await tryProgram(deps, timings, stopping.signal);
        }
        await alignPause(db, queue);
        await undoWrongClock(deps, timings);
        await makeUpForTicks(deps, 0);
        await setSchedules({ db, queue }, schedules);
        await enqueueWanted(deps);
      });
    },
    start() {
      timer = setTimeout(lookNow, timings.watchIntervalMs);
      backend.onReturn(lookNow);
    },
    lookNow,
    async pause(error) {
      if (await noteRefusal(db, timings, { isProbe: false })) logRefusal(log, error);
      await queue.pause();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await round;
    },
  };
}

async function tryProgram(
  { db, log, probe }: WatchdogDeps,
  timings: Timings,
  stopping: AbortSignal,
): Promise<void> {
  try {
    await probe(AbortSignal.any([stopping, AbortSignal.timeout(PROBE_TIMEOUT_MS)]));
  } catch (error) {
    // A program that is down has not refused anything, nor accepted.
    if (!(error instanceof ApiUnauthorized)) {
      log.warn({ reason: describeError(error) }, 'program.silent');
    } else if (await noteRefusal(db, timings, { isProbe: true })) {
      logRefusal(log, error);
    }
    return;
  }
  if (await noteAcceptance(db)) log.info('the program accepts the API secret again: the queue goes on');
}

function logRefusal(log: Logger, error: unknown): void {
  log.error(
    { reason: describeError(error) },
    'the program refuses the API secret (401): the queue is paused, and nothing is lost. Correct AFFILIATE_API_SECRET and restart the worker; if the secret was right, it goes on by itself once it is accepted',
  );
}

async function alignPause(db: Database, queue: WorkQueue): Promise<void> {
  const { isRefused } = await readPause(db);
  const isPaused = await queue.isPaused();
  if (isRefused && !isPaused) await queue.pause();
  if (!isRefused && isPaused) await queue.resume();
}

/** Returns the database's clock, after undoing what a worker whose clock was ahead left behind. */
async function undoWrongClock(deps: WatchdogDeps, timings: Timings): Promise<number> {
  const { db, backend, schedules, log } = deps;
  const { nowMs } = await readClock(db);
  await freeFromFuture(deps, nowMs, timings);
  for (const name of await moveBackTicks({ db, queue: backend.queue }, schedules, nowMs)) {
    log.warn({ schedule: name }, 'schedule.moved_back');
  }
  return nowMs;
}

async function makeUpForTicks({ db, kinds, schedules, log }: WatchdogDeps, graceMs: number): Promise<void> {
  for (const { name, wants } of schedules) {
    const isMissed = await transact(db, async (trx) => {
      if (!(await claimMissedTick(trx, name, graceMs))) return false;
      await wantJobs(trx, kinds, wants);
      return true;
    });
    if (isMissed) log.info({ schedule: name }, 'schedule.made_up_for');
  }
}

async function enqueueWanted({ db, backend, kinds, log }: WatchdogDeps): Promise<void> {
  for (const wanted of await listWanted(db)) {
    if (await ensureEnqueued(backend.queue, kinds, wanted)) log.info({ key: wanted.key }, 'job.enqueued');
  }
}
