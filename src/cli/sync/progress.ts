// Shows how far a sync has come: a line where a person watches, a line in the log every few seconds elsewhere.

import type { RateLimit } from '../../config/rate-limit.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { Logger } from '../../log.ts';
import type { SyncProgress } from '../../sync/run-summary.ts';
import type { BudgetWaitNote } from '../budget-wait.ts';
import { makePace } from '../output/pace.ts';
import { type ProgressLine, type ProgressReading, startProgressLine } from '../output/progress-line.ts';

export interface SyncProgressView {
  show(progress: SyncProgress): void;
  /** Takes the line away; the next run starts a new one. Idempotent: yes. */
  finish(): void;
}

/** Often enough to see that it moves, seldom enough for a night's log. */
const LOG_INTERVAL_MS = 5_000;

/** Returns the view for a run on a terminal. */
export function makeProgressView(
  { budgetWait }: { budgetWait: BudgetWaitNote },
  rateLimit: RateLimit,
): SyncProgressView {
  let line: ProgressLine | null = null;
  let last: SyncProgress | null = null;
  let pace = makePace(rateLimit);
  const read = (): ProgressReading => {
    if (last === null) return { leftMs: null, label: '', share: 0, details: [] };
    const { done, rowsPerSecond, leftMs } = pace.read(last);
    const total = last.total ?? done;
    const waits = budgetWait.read();
    return {
      leftMs,
      label: last.resource,
      share: total === 0 ? 0 : Math.min(1, done / total),
      details: [
        ...(waits === null ? [] : [waits]),
        `${formatCount(done)} of ${counted(total, 'row')}`,
        ...(rowsPerSecond === null ? [] : [`${formatCount(Math.round(rowsPerSecond))} rows/s`]),
        counted(last.pages, 'page'),
      ],
    };
  };
  return {
    show(progress) {
      last = progress;
      if (line === null) line = startProgressLine(read);
      else line.draw();
    },
    finish() {
      line?.finish();
      line = null;
      pace = makePace(rateLimit);
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
