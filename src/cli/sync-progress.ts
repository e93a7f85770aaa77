// Shows how far a sync has come: a bar where a person watches, a line in the log every few seconds elsewhere.

import { Presets, SingleBar } from 'cli-progress';
import type { RateLimit } from '../config/rate-limit.ts';
import type { Logger } from '../log.ts';
import type { SyncProgress } from '../sync/run-summary.ts';
import { formatCount, formatDuration } from './format.ts';
import { makePace, type Pace } from './pace.ts';

export interface SyncProgressView {
  show(progress: SyncProgress): void;
  /** Takes the bar away; the next run starts a new one. Idempotent: yes. */
  finish(): void;
}

/** Often enough to see that it moves, seldom enough for a night's log. */
const LOG_INTERVAL_MS = 5_000;
/** While the budget pauses everything, the time that passes is all there is to see. */
const REFRESH_MS = 1_000;
const FORMAT =
  '{resource} {bar} {percentage}% | {done} of {total_rows} rows | {pages} pages | {rate} | {left}';

/** Returns the view for a run on a terminal. */
export function makeProgressBar(stream: NodeJS.WriteStream, rateLimit: RateLimit): SyncProgressView {
  let running: { bar: SingleBar; pace: Pace; timer: NodeJS.Timeout; last: SyncProgress } | null = null;
  const draw = () => {
    if (running === null) return;
    const { bar, pace, last } = running;
    const { done, rowsPerSecond, leftMs } = pace.read(last);
    const total = last.total ?? done;
    bar.setTotal(total);
    bar.update(done, {
      resource: last.resource.padEnd('affiliates'.length),
      done: formatCount(done),
      total_rows: formatCount(total),
      pages: formatCount(last.pages),
      rate: rowsPerSecond === null ? '… rows/s' : `${formatCount(Math.round(rowsPerSecond))} rows/s`,
      left: leftMs === null ? '… left' : `${formatDuration(leftMs)} left`,
    });
  };
  return {
    show(progress) {
      if (running === null) {
        const bar = new SingleBar(
          { format: FORMAT, stream, clearOnComplete: true, barsize: 20 },
          Presets.shades_classic,
        );
        // The first drawing comes at once, and must find every field of the format.
        const empty = { resource: progress.resource, done: 0, total_rows: 0, pages: 0, rate: '', left: '' };
        bar.start(progress.total ?? 0, 0, empty);
        running = { bar, pace: makePace(rateLimit), timer: setInterval(draw, REFRESH_MS), last: progress };
      }
      running.last = progress;
      draw();
    },
    finish() {
      if (running === null) return;
      clearInterval(running.timer);
      running.bar.stop();
      running = null;
    },
  };
}

/** Returns the view for a run that no person watches. */
export function makeProgressLog({ log }: { log: Logger }, rateLimit: RateLimit): SyncProgressView {
  let pace = makePace(rateLimit);
  let loggedAtMs = performance.now();
  return {
    show(progress) {
      const { done, rowsPerSecond, leftMs } = pace.read(progress);
      if (performance.now() - loggedAtMs < LOG_INTERVAL_MS) return;
      loggedAtMs = performance.now();
      const { resource, total, pages, requests } = progress;
      const measured = {
        rows_per_second: rowsPerSecond === null ? null : Math.round(rowsPerSecond),
        seconds_left: leftMs === null ? null : Math.round(leftMs / 1000),
      };
      log.info({ resource, rows: done, total, pages, requests, ...measured }, 'sync.progress');
    },
    finish() {
      pace = makePace(rateLimit);
    },
  };
}
