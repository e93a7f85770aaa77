// How fast a sync goes and how long it still takes, from what it has read so far.

import type { RateLimit } from '../../config/rate-limit.ts';
import type { SyncProgress } from '../../sync/run-summary.ts';

export interface PaceReading {
  /** Different records read so far. */
  readonly done: number;
  /** Null before there is anything to measure. */
  readonly rowsPerSecond: number | null;
  readonly leftMs: number | null;
}

export interface Pace {
  /** Returns the reading at this moment; it changes with time, also while nothing arrives. */
  read(progress: SyncProgress): PaceReading;
}

/**
 * Returns a pace that starts with the first reading: a run that was taken up again starts far from zero.
 *
 * A budget is spent in bursts, so speed alone would promise too much before each pause: what is left never takes
 * less than the limit allows.
 */
export function makePace(rateLimit: RateLimit): Pace {
  let from: { readonly done: number; readonly atMs: number } | null = null;
  return {
    read({ rows, pages, total }) {
      const done = rows.seen - rows.repeated;
      const nowMs = performance.now();
      from ??= { done, atMs: nowMs };
      const gained = done - from.done;
      const elapsedMs = nowMs - from.atMs;
      if (gained <= 0 || elapsedMs <= 0) return { done, rowsPerSecond: null, leftMs: null };
      const rowsPerMs = gained / elapsedMs;
      const rowsLeft = Math.max(0, (total ?? done) - done);
      const pagesLeft = (rowsLeft * pages) / rows.seen;
      const allowedMs =
        rateLimit === null ? 0 : (pagesLeft / rateLimit.requests) * rateLimit.windowSeconds * 1000;
      return {
        done,
        rowsPerSecond: rowsPerMs * 1000,
        leftMs: Math.max(rowsLeft / rowsPerMs, allowedMs),
      };
    },
  };
}
