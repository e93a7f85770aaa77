// Shows how far a sync has come: a bar where a person watches, a line in the log every few seconds elsewhere.
// Knows what to show, and nothing of how a run works.

import { Presets, SingleBar } from 'cli-progress';
import type { Logger } from '../log.ts';
import type { SyncProgress } from '../sync/run-summary.ts';
import { formatCount, formatDuration } from './format.ts';

export interface SyncProgressView {
  show(progress: SyncProgress): void;
  /** Takes the bar away; what is printed next starts on a line of its own. Idempotent: yes. */
  finish(): void;
}

/** Often enough to see that it moves, seldom enough for a night's log. */
const LOG_INTERVAL_MS = 5_000;
const FORMAT =
  '{resource} {bar} {percentage}% | {done} of {total_rows} rows | {pages} pages | {rate} | {left}';

/** Gives back the view for a run on a terminal. */
export function makeProgressBar(stream: NodeJS.WriteStream): SyncProgressView {
  let bar: SingleBar | null = null;
  let pace: Pace | null = null;
  return {
    show(progress) {
      if (progress.total === null) return;
      const done = countDone(progress);
      pace ??= startPace(done);
      const { rowsPerSecond, leftMs } = measure(pace, done, progress.total);
      const payload = {
        resource: progress.resource.padEnd('affiliates'.length),
        done: formatCount(done),
        total_rows: formatCount(progress.total),
        pages: formatCount(progress.pages),
        rate: rowsPerSecond === null ? '… rows/s' : `${formatCount(Math.round(rowsPerSecond))} rows/s`,
        left: leftMs === null ? '… left' : `${formatDuration(leftMs)} left`,
      };
      if (bar === null) {
        bar = new SingleBar(
          { format: FORMAT, stream, clearOnComplete: true, barsize: 24 },
          Presets.shades_classic,
        );
        bar.start(progress.total, done, payload);
      }
      bar.setTotal(progress.total);
      bar.update(done, payload);
    },
    finish() {
      bar?.stop();
      bar = null;
      pace = null;
    },
  };
}

/** Gives back the view for a run that no person watches. */
export function makeProgressLog({ log }: { log: Logger }): SyncProgressView {
  let pace: Pace | null = null;
  let loggedAtMs = performance.now();
  return {
    show(progress) {
      const done = countDone(progress);
      pace ??= startPace(done);
      if (performance.now() - loggedAtMs < LOG_INTERVAL_MS) return;
      loggedAtMs = performance.now();
      const { rowsPerSecond, leftMs } = measure(pace, done, progress.total ?? done);
      log.info(
        {
          resource: progress.resource,
          rows: done,
          total: progress.total,
          pages: progress.pages,
          requests: progress.requests,
          rows_per_second: rowsPerSecond === null ? null : Math.round(rowsPerSecond),
          seconds_left: leftMs === null ? null : Math.round(leftMs / 1000),
        },
        'sync.progress',
      );
    },
    finish() {
      pace = null;
    },
  };
}

/** Rows are counted from the first batch on: a resumed run starts far from zero. */
interface Pace {
  readonly fromRows: number;
  readonly fromMs: number;
}

function startPace(done: number): Pace {
  return { fromRows: done, fromMs: performance.now() };
}

function measure(
  pace: Pace,
  done: number,
  total: number,
): { rowsPerSecond: number | null; leftMs: number | null } {
  const elapsedMs = performance.now() - pace.fromMs;
  const rows = done - pace.fromRows;
  if (rows <= 0 || elapsedMs <= 0) return { rowsPerSecond: null, leftMs: null };
  const rowsPerMs = rows / elapsedMs;
  return { rowsPerSecond: rowsPerMs * 1000, leftMs: Math.max(0, total - done) / rowsPerMs };
}

function countDone({ rows }: SyncProgress): number {
  return rows.seen - rows.repeated;
}
