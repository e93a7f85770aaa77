// The watch over the programs: evaluates alerts and sends their messages, in every worker. Not a job of the queue: it
// must run when nothing else does, and a queue that is away is a cause itself.
//
// A round reads one program after the other, and sends the messages after the last: so one cause in many programs is
// one message.

import { describeError } from '../../base/describe-error.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import { NoAnswer, within } from '../../base/within.ts';
import type { Database } from '../../db/database.ts';
import type { FigureCache } from '../metrics/figure-cache.ts';
import type { ObservedProgram } from '../observed-program.ts';
import type { Channel } from './message.ts';
import { makeObserve } from './observe-program.ts';
import type { DueNotice } from './outbox.ts';
import { sendDue } from './send-due.ts';
import { ALERT_TIMINGS, type AlertTimings } from './timings.ts';

export interface WatchDeps {
  readonly programs: () => readonly ObservedProgram[];
  /** Is given the figures of listed programs, which the metrics show. */
  readonly figures: FigureCache;
  /** If empty, alerts are stored without messages. */
  readonly channels: readonly Channel[];
  /** Throws if the queue does not answer. */
  readonly checkQueue: () => Promise<unknown>;
  /**
   * Runs the work of a round over listed programs, and returns true, unless another worker is in such a round: two
   * workers that share the programs would send two messages of one cause. Left out: always runs it.
   */
  readonly alone?: (work: () => Promise<void>) => Promise<boolean>;
  /** Called with the errors of a round, such as when the database is away; the next round follows. */
  readonly warn: (error: unknown) => void;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly timings?: AlertTimings;
}

const QUEUE_ANSWERS_WITHIN_MS = 5000;
/** A round goes on without a listed program of which a user has locked a table. */
const PROGRAM_ANSWERS_WITHIN_MS = 5000;

/** Runs until the signal aborts. Never throws. */
export async function watchAlerts(
  deps: WatchDeps,
  { signal, timings = ALERT_TIMINGS, maxAgeSeconds }: WatchOptions,
): Promise<void> {
  const { channels, alone = always } = deps;
  const warnOf = makeWarnOf(deps.warn, signal);
  const beginRound = makeObserve(
    { figures: deps.figures, channels: channels.map(({ kind }) => kind), warn: warnOf },
    { maxAgeSeconds, timings },
  );
  const reading = new Map<Database, Promise<readonly DueNotice[]>>();

  const runRound = async (programs: readonly ObservedProgram[], isReadOnly: boolean) => {
    const isQueueAway = !isReadOnly && !(await answers(deps.checkQueue));
    // A stopping worker closes its queue, which is then not away.
    if (signal.aborted) return;
    const observe = beginRound({ programs: programs.length, isQueueAway, isReadOnly });
    const notices: (readonly DueNotice[])[] = [];
    for (const program of programs) {
      if (signal.aborted) return;
      const { db, name } = program;
      if (reading.has(db)) continue;
      const read = observe(program).finally(() => reading.delete(db));
      reading.set(db, read);
      try {
        notices.push(await (name === null ? read : within(PROGRAM_ANSWERS_WITHIN_MS, read)));
        warnOf(program, null);
      } catch (error) {
        deps.figures.put(db, null);
        if (error instanceof NoAnswer) read.catch((late: unknown) => warnOf(program, late));
        warnOf(program, error);
      }
    }
    // A channel that hangs delays the next round, but not the other channel.
    const ends = await Promise.allSettled(
      channels.map((channel) => sendDue(channel, notices, timings, signal)),
    );
    for (const end of ends) if (end.status === 'rejected' && !signal.aborted) deps.warn(end.reason);
  };

  while (!signal.aborted) {
    const programs = deps.programs();
    const isListed = programs.some(({ name }) => name !== null);
    try {
      const isDone = await (isListed ? alone : always)(() => runRound(programs, false));
      if (!isDone) await runRound(programs, true);
    } catch (error) {
      if (!signal.aborted) deps.warn(error);
    }
    const pauseMs = isListed
      ? timings.evaluateListedEveryMs * (1 + Math.random() / 4)
      : // So that workers that were started together drift apart.
        timings.evaluateEveryMs * (0.5 + Math.random());
    await sleepOrAbort(pauseMs, signal);
  }
  await Promise.allSettled(reading.values());
}

async function always(work: () => Promise<void>): Promise<boolean> {
  await work();
  return true;
}

/** Returns a function that is called with the end of each reading: null is a success. */
function makeWarnOf(warn: (error: unknown) => void, signal: AbortSignal) {
  const lastReasons = new WeakMap<Database, string>();
  return ({ db, name, log }: ObservedProgram, error: unknown) => {
    if (error === null) return void lastReasons.delete(db);
    if (signal.aborted) return;
    if (name === null) return warn(error);
    // A program that is paused may fail for days: that is said once.
    const reason = describeError(error);
    if (lastReasons.get(db) === reason) return;
    lastReasons.set(db, reason);
    log.warn({ reason }, 'alerts.failed');
  };
}

async function answers(check: () => Promise<unknown>): Promise<boolean> {
  try {
    await within(QUEUE_ANSWERS_WITHIN_MS, check());
    return true;
  } catch {
    return false;
  }
}
