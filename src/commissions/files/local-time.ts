// From a date or a time on the wall of some place to the one moment that it means. Pure.
//
// By Intl's own table of time zones; Temporal does the same, but Node 24 has none yet. A test compares the two.

import { offsetMs } from '../../config/time-zone.ts';

/** No place changes its clocks twice within as long. */
const DAY_MS = 24 * 3_600_000;

/** The moment in ms since 1970; or `never` and `twice` where the clocks of the place skip or repeat that time. */
export type LocalMoment = number | 'never' | 'twice';

/** Returns the moment at which the clocks of the time zone show the time, which is given as if it were UTC. */
export function findLocalMoment(timeZone: string, shownMs: number): LocalMoment {
  const [first, second] = momentsShowing(timeZone, shownMs);
  if (first === undefined) return 'never';
  return second === undefined ? first : 'twice';
}

/** Returns the first moment of the day in the time zone, in ms since 1970; its midnight is given as if it were UTC. */
export function findStartOfDay(timeZone: string, midnightMs: number): number {
  const [first] = momentsShowing(timeZone, midnightMs);
  // Where the clocks go forward at midnight, the day begins as they do: at the old offset's midnight.
  return first ?? midnightMs - offsetMs(timeZone, midnightMs - DAY_MS);
}

function momentsShowing(timeZone: string, shownMs: number): number[] {
  const offsets = [shownMs - DAY_MS, shownMs + DAY_MS].map((ms) => offsetMs(timeZone, ms));
  return [...new Set(offsets)]
    .map((offset) => shownMs - offset)
    .filter((ms) => ms + offsetMs(timeZone, ms) === shownMs)
    .toSorted((a, b) => a - b);
}
