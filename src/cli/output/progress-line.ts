// The line that shows how far something has come: what a person waits for, the time that is left, comes first.

import { formatDuration } from '../../contract/format.ts';
import { canDrawStatusLine, clearStatusLine, columnsOfStatusLine, drawStatusLine } from '../../terminal.ts';

export interface ProgressReading {
  /** Null while there is nothing to tell it from. */
  readonly leftMs: number | null;
  /** What is worked on. */
  readonly label: string;
  /** From 0 to 1. */
  readonly share: number;
  /** What else is worth knowing, the most important first: what does not fit is left out. */
  readonly details: readonly string[];
}

export interface ProgressLine {
  /** Draws the line with what is read now. */
  draw(): void;
  /** Takes the line away. Idempotent: yes. */
  finish(): void;
}

/** While the budget pauses everything, the time that passes is all there is to see. */
const REFRESH_MS = 1_000;
/** A wait for the budget fits 80 columns beside the least. */
const BAR = { least: 3, most: 20 };

/** Returns the line, drawn anew every second until it is finished. Nothing is drawn where no person watches. */
export function startProgressLine(read: () => ProgressReading): ProgressLine {
  const draw = () => drawStatusLine(composeProgress(read(), columnsOfStatusLine()));
  if (!canDrawStatusLine()) return { draw: () => undefined, finish: () => undefined };
  draw();
  const timer = setInterval(draw, REFRESH_MS);
  return {
    draw,
    finish() {
      clearInterval(timer);
      clearStatusLine();
    },
  };
}

/** Returns the line in at most `room` characters, as far as the first of its parts need no more. */
export function composeProgress(reading: ProgressReading, room: number): string {
  const { leftMs, label, share, details } = reading;
  const left = leftMs === null ? 'time left: ?' : `${formatDuration(leftMs)} left`;
  const percent = `${Math.floor(share * 100)}%`;
  const compose = (bar: string, shown: readonly string[]) =>
    [left, `${label} ${bar} ${percent}`, ...shown].join(' | ');
  let shown = details;
  while (shown.length > 0 && compose('', shown).length + BAR.least > room) shown = shown.slice(0, -1);
  const size = Math.max(BAR.least, Math.min(BAR.most, room - compose('', shown).length));
  const full = Math.round(share * size);
  return compose('█'.repeat(full) + '░'.repeat(size - full), shown);
}
