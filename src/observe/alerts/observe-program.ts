// Reads one program, in one transaction: evaluates its alerts if that is due, finds the messages to send, and reads the
// figures of a listed program for the metrics.

import type { Database } from '../../db/database.ts';
import type { FigureCache } from '../metrics/figure-cache.ts';
import { completeFigures, type Figures } from '../metrics/read-figures.ts';
import { isAtRest, type ObservedProgram } from '../observed-program.ts';
import { evaluateAlerts } from './evaluate.ts';
import { makeGrowthRounds } from './growth-rounds.ts';
import { type ChannelKind, type DueNotice, tryAgainNow } from './outbox.ts';
import type { AlertTimings } from './timings.ts';

export interface ObserveDeps {
  readonly figures: FigureCache;
  readonly channels: readonly ChannelKind[];
  /** Called with the error that keeps the growth from being measured: the rest is evaluated without it. */
  readonly warn: (program: ObservedProgram, error: unknown) => void;
}

export interface ObserveOptions {
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly timings: AlertTimings;
}

export interface Round {
  /** How many programs the round reads. */
  readonly programs: number;
  readonly isQueueAway: boolean;
  /** Whether another worker evaluates, and sends. */
  readonly isReadOnly: boolean;
}

/**
 * Returns a function that begins a round; it returns one that reads a program, and returns its unsettled messages.
 *
 * Throws: the database's errors.
 */
export function makeObserve(
  { figures, channels, warn }: ObserveDeps,
  { maxAgeSeconds, timings }: ObserveOptions,
): (round: Round) => (program: ObservedProgram) => Promise<readonly DueNotice[]> {
  const ofListed = { ...timings, evaluateEveryMs: timings.evaluateListedEveryMs };
  const beginGrowth = makeGrowthRounds();
  const met = new WeakSet<Database>();
  return ({ programs, ...round }) => {
    const readGrowth = beginGrowth(programs);
    return async (program) => {
      const { db, name, recorder } = program;
      if (!round.isReadOnly && !met.has(db)) {
        await tryAgainNow(db, channels);
        met.add(db);
      }
      const growth = await readGrowth(program).catch((error: unknown) => {
        warn(program, error);
        return null;
      });
      const isWanted = name !== null && figures.isWanted(db);
      if (round.isReadOnly && !isWanted) return [];
      const beganMs = performance.now();
      let read: Figures | null = null;
      const { pending } = await evaluateAlerts(program, {
        ...{ ...round, channels, maxAgeSeconds, growth, timings: name === null ? timings : ofListed },
        ...(isWanted && {
          async onHealth(reader, health) {
            const input = { maxAgeSeconds, growth, isAtRest: isAtRest(recorder, health), beganMs };
            read = await completeFigures(reader, health, input);
          },
        }),
      });
      if (isWanted) figures.put(db, read);
      return pending.map((notice) => ({ ...notice, program }));
    };
  };
}
