// The watch over the mirror: evaluates alerts and sends their messages, in every worker. Not a job of the queue: it
// must run when nothing else does, and a queue that is away is a cause itself.

import type { Logger } from '../../base/log.ts';
import { memoize } from '../../base/memoize.ts';
import { sleepOrAbort } from '../../base/sleep.ts';
import { within } from '../../base/within.ts';
import type { Reader } from '../../reports/figure.ts';
import type { Growth } from '../../reports/read-growth.ts';
import { evaluateAlerts } from './evaluate.ts';
import type { Channel } from './message.ts';
import { tryAgainNow } from './outbox.ts';
import { sendDue } from './send-due.ts';
import { ALERT_TIMINGS, type AlertTimings } from './timings.ts';

export interface WatchDeps extends Reader {
  readonly log: Logger;
  /** If empty, alerts are stored without messages. */
  readonly channels: readonly Channel[];
  /** Throws if the queue does not answer. */
  readonly checkQueue: () => Promise<unknown>;
  /** Reads every table, so it is called rarely. If it throws, the rest is evaluated without it. */
  readonly readGrowth: () => Promise<Growth>;
  /** Called with the errors of a round, such as when the database is away; the next round follows. */
  readonly warn: (error: unknown) => void;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly timings?: AlertTimings;
}

const GROWTH_EVERY_MS = 3_600_000;

const QUEUE_ANSWERS_WITHIN_MS = 5000;

/** Runs until the signal aborts. Never throws. */
export async function watchAlerts(
  deps: WatchDeps,
  { signal, timings = ALERT_TIMINGS, ...options }: WatchOptions,
): Promise<void> {
  const { db, mirrorSchema, log, channels, warn } = deps;
  const kinds = channels.map(({ kind }) => kind);
  const readGrowth = memoize(deps.readGrowth, () => GROWTH_EVERY_MS);
  let isFirst = true;
  while (!signal.aborted) {
    try {
      if (isFirst) await tryAgainNow(db, kinds);
      isFirst = false;
      const isQueueAway = !(await answers(deps.checkQueue));
      // A stopping worker closes its queue, which is then not away.
      if (signal.aborted) break;
      const growth = await readGrowth().catch((error: unknown) => {
        if (!signal.aborted) warn(error);
        return null;
      });
      await evaluateAlerts(
        { db, mirrorSchema, log },
        { ...options, growth, isQueueAway, channels: kinds, timings },
      );
      // A channel that hangs delays the next round, but not the other channel.
      const ends = await Promise.allSettled(
        channels.map((channel) => sendDue({ db, log }, channel, timings, signal)),
      );
      for (const end of ends) if (end.status === 'rejected' && !signal.aborted) warn(end.reason);
    } catch (error) {
      if (!signal.aborted) warn(error);
    }
    // So that workers that were started together drift apart.
    const pauseMs = timings.evaluateEveryMs * (0.5 + Math.random());
    await sleepOrAbort(pauseMs, signal);
  }
}

async function answers(check: () => Promise<unknown>): Promise<boolean> {
  try {
    await within(QUEUE_ANSWERS_WITHIN_MS, check());
    return true;
  } catch {
    return false;
  }
}
