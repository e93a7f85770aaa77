// Compares the items of a program that are due by the tables with the jobs that exist, and adds the missing jobs: once
// a minute, and at once on demand. Runs in every worker, without a lock, and outside of the queue that it keeps.

import { DatabaseUnreachable } from '../../base/errors.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import { asDatabaseError } from '../../db/database-errors.ts';
import { addDue } from './add-due.ts';
import type { QueueBackend } from './backend.ts';
import { type Found, findDue, isUnfit } from './find-due.ts';
import type { ProgramWatch } from './program-watch.ts';
import type { ServedProgram, Serving } from './served-program.ts';
import type { Timings } from './timings.ts';

export interface KeepDeps {
  readonly program: ServedProgram;
  readonly watch: ProgramWatch;
  readonly backend: QueueBackend;
  /** Logs that a server is away, which all programs meet. */
  readonly warnOfOutage: (error: unknown) => void;
  /** The time to the first round after the set-up: rounds of all programs are spread over the interval. */
  readonly firstRestMs: number;
}

export interface JobKeeper extends Pick<Serving, 'wake'> {
  /**
   * The first comparison: to be awaited before any job of the program runs.
   *
   * Throws: the signal's reason when aborted; an error that isUnfit; the errors of the database and the queue.
   */
  setUp(signal: AbortSignal): Promise<void>;
  /** Ends with stop(). Throws: an error that isUnfit. */
  run(): Promise<void>;
  /** Has a round begin at once: the queue may have lost jobs. */
  compareAnew(): void;
  /** Resolves once no comparison is under way. Idempotent: yes. */
  stop(): Promise<void>;
}

/** The least time between two comparisons: a batch of requests, or jobs without work, may ask for many. */
const PAUSE_MS = 100;

/** Returns the keeper, not yet started. */
export function keepJobs(deps: KeepDeps, timings: Timings): JobKeeper {
  const { program, watch, backend, warnOfOutage } = deps;
  const { log } = program;
  const warn = makeQuietWarning({ log }, 'watchdog.failed');
  const stopping = new AbortController();
  const causes = new Map<string, string>();
  let restMs = deps.firstRestMs;
  let nextRoundMs = performance.now() + restMs;
  let waking = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    for (;;) {
      await sleepOrAbort(Math.max(0, restMs), waking.signal);
      if (stopping.signal.aborted) return;
      waking = new AbortController();
      await compare().catch((error: unknown) => {
        if (isUnfit(error)) throw error;
        nextRoundMs = 0;
        restMs = timings.compareAgainMs;
        if (stopping.signal.aborted) return;
        if (asDatabaseError(error) instanceof DatabaseUnreachable) warnOfOutage(error);
        else warn(error);
      });
      await sleepOrAbort(PAUSE_MS, stopping.signal);
    }
  }

  async function compare(): Promise<void> {
    if (stopping.signal.aborted) return;
    const isRound = performance.now() >= nextRoundMs;
    if (isRound) nextRoundMs = performance.now() + timings.watchIntervalMs;
    restMs = nextRoundMs - performance.now();
    let found = await findDue(program, { isRound });
    if (found.isProgramAway && (await watch.tryAgain(stopping.signal))) {
      found = await findDue(program, { isRound: false });
    }
    if (found.isProgramAway) restMs = Math.min(restMs, timings.compareAgainMs);
    await addAll(found);
  }

  /** Adds what every source found. Throws: the first failure, at the end. */
  async function addAll({ due, failures: unasked }: Found): Promise<void> {
    const failures = [...unasked];
    // Asking a Redis that is away would not fail, but wait.
    if (due.some(({ items }) => items.length > 0)) await backend.check();
    for (const one of due) await addOf(one).catch((error: unknown) => failures.push(error));
    for (const failure of failures.slice(1)) warn(failure);
    if (failures.length > 0) throw failures[0];
  }

  async function addOf({ source: { name }, items }: Found['due'][number]): Promise<void> {
    const cause = causes.get(name) ?? null;
    causes.delete(name);
    const input = { program: program.name, name, cause, mostAttempts: timings.mostAttempts };
    for (const id of await addDue(backend.queue, items, input)) log.info({ job: name, id }, 'job.added');
  }

  return {
    async setUp(signal) {
      await backend.check();
      await watch.tryFirst(signal);
      await addAll(await findDue(program, { isRound: false }));
    },
    run() {
      running = run();
      return running;
    },
    wake(names = [], cause = null) {
      if (cause !== null) for (const name of names) causes.set(name, cause);
      waking.abort();
    },
    compareAnew() {
      nextRoundMs = 0;
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
