// The watch over the mirror: looks for what is wrong, and sends the messages, in every worker and for as long as it
// runs. Not a job of the queue: it has to run where nothing else does, and a queue that is away is a cause itself.

import type { Logger } from '../log.ts';
import { memoize } from '../memoize.ts';
import type { Reader } from '../reports/figure.ts';
import type { Growth } from '../reports/read-growth.ts';
import { sleepOrAbort } from '../sleep.ts';
import { within } from '../within.ts';
import type { Channel } from './channel.ts';
import { look } from './look.ts';
import { tryAgainNow } from './outbox.ts';
import { sendDue } from './send-due.ts';
import { ALERT_TIMINGS, type AlertTimings } from './timings.ts';

export interface WatchDeps extends Reader {
  readonly log: Logger;
  /** Where messages go; alerts are kept in any case. */
  readonly channels: readonly Channel[];
  /** Throws where the queue does not answer. */
  readonly checkQueue: () => Promise<unknown>;
  /** Looks at every table: asked for now and then only. Where it throws, all else is watched without it. */
  readonly readGrowth: () => Promise<Growth>;
  /** Called with what a round could not do, such as where the database is away; the next one comes all the same. */
  readonly warn: (error: unknown) => void;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly timings?: AlertTimings;
}

const GROWTH_EVERY_MS = 3_600_000;

/** A queue that does not answer by then is away. */
const QUEUE_ANSWERS_WITHIN_MS = 5000;

/** Watches until the signal aborts; resolves once nothing is under way. Never throws. */
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
      // A queue that closes with its worker is not away.
      if (signal.aborted) break;
      const growth = await readGrowth().catch((error: unknown) => {
        if (!signal.aborted) warn(error);
        return null;
      });
      await look({ db, mirrorSchema, log }, { ...options, growth, isQueueAway, channels: kinds, timings });
      // A channel that hangs does not keep the other one waiting, but the next round: one message at a time.
      const ends = await Promise.allSettled(
        channels.map((channel) => sendDue({ db, log }, channel, timings, signal)),
      );
      for (const end of ends) if (end.status === 'rejected' && !signal.aborted) warn(end.reason);
    } catch (error) {
      if (!signal.aborted) warn(error);
    }
    // Workers that were started together do not stay together.
    const pauseMs = timings.lookIntervalMs * (0.5 + Math.random());
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
