// How far something has come: one line that is drawn anew every second where a person watches, an event in the log
// every few seconds elsewhere.

import { formatCount, formatDuration } from '../../contract/format.ts';
import { canDrawStatusLine, clearStatusLine, columnsOfStatusLine, drawStatusLine } from '../../terminal.ts';
import type { BudgetWaitNote } from '../budget-wait.ts';

export interface ProgressReading {
  /** What is worked on. */
  readonly label: string;
  /** Plural, such as rows. */
  readonly unit: string;
  readonly done: number;
  readonly total: number;
  /** What the line says last; what does not fit is left out. */
  readonly details: readonly string[];
  /** For the log. */
  readonly fields: object;
}

export interface ProgressView {
  show(reading: ProgressReading): void;
  /** Takes the line away; the next reading starts anew. Idempotent: yes. */
  finish(): void;
}

interface ProgressDeps {
  /** Logs how far it has come. */
  readonly logProgress: (fields: object) => void;
  readonly budgetWait: BudgetWaitNote;
  /** Whether the line is drawn and nothing logged; by default, where a line can be drawn. */
  readonly isWatched?: boolean;
}

/** Null before there is anything to measure. */
interface Pace {
  readonly perSecond: number | null;
  readonly leftMs: number | null;
}

/** While the budget pauses everything, the time that passes is all there is to see. */
const REFRESH_MS = 1_000;
/** Often enough to see that it moves, seldom enough for a night's log. */
const LOG_INTERVAL_MS = 5_000;
/** A wait for the budget fits 80 columns beside the least. */
const BAR = { least: 3, most: 20 };

/** Returns the view. */
export function makeProgress({
  logProgress,
  budgetWait,
  isWatched = canDrawStatusLine(),
}: ProgressDeps): ProgressView {
  let last: ProgressReading | null = null;
  // Of the first reading: a run that was taken up again starts far from zero.
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
    drawStatusLine(composeProgress(last, measure(last), budgetWait.read(), columnsOfStatusLine()));
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

/** Returns the line: the time that is left first, then in at most `room` characters as many of the rest as fit. */
export function composeProgress(
  { label, unit, done, total, details }: ProgressReading,
  { perSecond, leftMs }: Pace,
  waits: string | null,
  room: number,
): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const left = leftMs === null ? 'time left: ?' : `${formatDuration(leftMs)} left`;
  const compose = (bar: string, shown: readonly string[]) =>
    [left, `${label} ${bar} ${Math.floor(share * 100)}%`, ...shown].join(' | ');
  let shown = [
    ...(waits === null ? [] : [waits]),
    `${formatCount(done)} of ${formatCount(total)} ${unit}`,
    ...(perSecond === null ? [] : [`${formatCount(perSecond)} ${unit}/s`]),
    ...details,
  ];
  while (shown.length > 0 && compose('', shown).length + BAR.least > room) shown = shown.slice(0, -1);
  const size = Math.max(BAR.least, Math.min(BAR.most, room - compose('', shown).length));
  const full = Math.round(share * size);
  return compose('█'.repeat(full) + '░'.repeat(size - full), shown);
}
