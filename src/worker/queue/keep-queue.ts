// Keeps the queue itself, once a minute: the clock that its delays and ticks are written by, its server, and the
// schedules of all programs. Runs in every worker, without a lock, and outside of the queue that it keeps.

import { ClockWrong } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import { CLOCK_TOLERANCE_MS, checkClock } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import type { QueueBackend } from './backend.ts';
import { keepSchedules, type Schedule } from './schedules.ts';
import type { Timings } from './timings.ts';

export interface KeepQueueDeps {
  /** For the clock and a lock: of any schema. */
  readonly db: Database;
  readonly log: Logger;
  readonly backend: QueueBackend;
  readonly mirrorSchema: string;
  /** Returns the schedules of the programs that are served, as the queue names them. */
  readonly listSchedules: () => readonly Schedule[];
  /** Whether no program has a schedule of that name any more. */
  readonly isGone: (name: string) => boolean;
  /** Logs a failure. */
  readonly warn: (error: unknown) => void;
}

export interface QueueKeeper {
  /** The first round, before any job runs. Throws: ClockWrong; the errors of the database and the queue. */
  setUp(): Promise<void>;
  /** Ends with stop(). Throws: ClockWrong. */
  run(): Promise<void>;
  /** Resolves once no round is under way. Idempotent: yes. */
  stop(): Promise<void>;
}

/** Returns the keeper, not yet started. */
export function makeQueueKeeper(deps: KeepQueueDeps, timings: Timings): QueueKeeper {
  const { db, log, backend, mirrorSchema, listSchedules, isGone, warn } = deps;
  const { queue } = backend;
  const warnOfClock = makeQuietWarning({ log }, 'clock.differs');
  const stopping = new AbortController();
  let waking = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function keep(): Promise<void> {
    const nowMs = await checkClock(db, warnOfClock);
    await backend.check();
    await freeFromFuture(deps, nowMs, timings);
    await keepSchedules({ db, queue, mirrorSchema }, listSchedules(), nowMs, isGone);
  }

  async function run(): Promise<void> {
    let restMs = timings.watchIntervalMs;
    for (;;) {
      await sleepOrAbort(restMs, waking.signal);
      if (stopping.signal.aborted) return;
      waking = new AbortController();
      restMs = timings.watchIntervalMs;
      await keep().catch((error: unknown) => {
        if (error instanceof ClockWrong) throw error;
        restMs = timings.compareAgainMs;
        if (!stopping.signal.aborted) warn(error);
      });
    }
  }

  return {
    setUp: keep,
    run() {
      backend.onReturn(() => waking.abort());
      running = run();
      return running;
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
  { log, backend: { queue } }: Pick<KeepQueueDeps, 'log' | 'backend'>,
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
