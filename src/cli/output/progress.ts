// Progress: one line that is drawn again every second on a terminal, else an event in the log every few seconds.

import { canDrawStatusLine, clearStatusLine, drawStatusLine } from '../../base/terminal.ts';
import type { BudgetWait } from '../../budget/waits.ts';
import { formatCount, formatDuration } from '../../contract/format.ts';

export interface ProgressReading {
  readonly label: string;
  /** Plural, such as rows. */
  readonly unit: string;
  readonly done: number;
  readonly total: number;
  /** The end of the line, as far as it fits. */
  readonly details: readonly string[];
  /** For the log. */
  readonly fields: object;
}

export interface ProgressView {
  show(reading: ProgressReading): void;
  /** Removes the line; the next reading starts again. Idempotent: yes. */
  finish(): void;
}

interface ProgressDeps {
  readonly logProgress: (fields: object) => void;
  readonly budgetWait: BudgetWaitNote;
  /** Whether the line is drawn and nothing logged. Left out: as the terminal allows. */
  readonly isWatched?: boolean;
}

/** Null before the second reading. */
interface Pace {
  readonly perSecond: number | null;
  readonly leftMs: number | null;
}

/** Shows that time passes while the budget pauses all requests. */
const REFRESH_MS = 1_000;
const LOG_INTERVAL_MS = 5_000;

export function makeProgress({
  logProgress,
  budgetWait,
  isWatched = canDrawStatusLine(),
}: ProgressDeps): ProgressView {
  let last: ProgressReading | null = null;
  // The first reading: a resumed run starts far from zero.
  let from = { done: 0, atMs: 0 };
  let timer: NodeJS.Timeout | undefined;
  let loggedAtMs = performance.now();
  const measure = ({ done, total }: ProgressReading): Pace => {
    const perMs = (done - from.done) / (performance.now() - from.atMs);
    if (!(perMs > 0 && Number.isFinite(perMs))) return { perSecond: null, leftMs: null };
    return { perSecond: Math.round(perMs * 1000), leftMs: Math.max(0, total - done) / perMs };
  };
  const draw = () => {
    if (last === null) return;
    drawStatusLine(composeProgress(last, measure(last), budgetWait.read()));
  };
  return {
    show(reading) {
      if (last === null) from = { done: reading.done, atMs: performance.now() };
      last = reading;
      if (isWatched) {
        timer ??= setInterval(draw, REFRESH_MS);
        draw();
      } else if (performance.now() - loggedAtMs >= LOG_INTERVAL_MS) {
        loggedAtMs = performance.now();
        const { perSecond, leftMs } = measure(reading);
        const seconds_left = leftMs === null ? null : Math.round(leftMs / 1000);
        logProgress({ ...reading.fields, [`${reading.unit}_per_second`]: perSecond, seconds_left });
      }
    },
    finish() {
      clearInterval(timer);
      timer = undefined;
      last = null;
      clearStatusLine();
    },
  };
}

/** Returns the line: the time left, then the others. What does not fit the terminal is cut off. */
function composeProgress(
  { label, unit, done, total, details }: ProgressReading,
  { perSecond, leftMs }: Pace,
  waits: string | null,
): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  return [
    leftMs === null ? 'time left: ?' : `${formatDuration(leftMs)} left`,
    `${label} ${Math.floor(share * 100)}%`,
    ...(waits === null ? [] : [waits]),
    `${formatCount(done)} of ${formatCount(total)} ${unit}`,
    ...(perSecond === null ? [] : [`${formatCount(perSecond)} ${unit}/s`]),
    ...details,
  ].join(' | ');
}

export interface BudgetWaitNote {
  /** The budget calls it with each wait for a permit. */
  readonly note: (wait: BudgetWait) => void;
  /** Returns the words; null if nothing waits, or only shortly. */
  read(): string | null;
}

/** Shorter waits are normal under a limit. */
const LONG_ENOUGH_MS = 1_000;
/** A wait without a known end is reported again within that time. */
const NEWS_MS = 2_000;

export function makeBudgetWaitNote(): BudgetWaitNote {
  let last: (BudgetWait & { readonly atMs: number }) | null = null;
  return {
    note(wait) {
      last = { ...wait, atMs: performance.now() };
    },
    read() {
      if (last === null) return null;
      const sinceMs = performance.now() - last.atMs;
      const words = 'waiting for the request budget';
      if (last.goesOnInMs === null) return sinceMs < NEWS_MS ? words : null;
      const leftMs = last.goesOnInMs - sinceMs;
      return leftMs < LONG_ENOUGH_MS ? null : `${words}, ${Math.ceil(leftMs / 1000)} s`;
    },
  };
}
