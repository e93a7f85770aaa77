// How counts, ages and moments read on a page.

import { counted } from '../contract/format.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { type Html, html } from './html.ts';

/** Returns how long something is, as people say it: `12 seconds`, `3 minutes`, `9 hours`, `4 days`. */
export function durationOf(seconds: number): string {
  const unit = UNITS.find(({ from }) => seconds >= from) ?? SECOND;
  return counted(Math.max(0, Math.round(seconds / unit.seconds)), unit.noun);
}

const SECOND = { from: 0, seconds: 1, noun: 'second' };
/** Up to a hundred minutes and two days, the smaller unit says more. */
const UNITS = [
  { from: 48 * 3600, seconds: 86_400, noun: 'day' },
  { from: 100 * 60, seconds: 3600, noun: 'hour' },
  { from: 60, seconds: 60, noun: 'minute' },
  SECOND,
];

/** Returns the moment in UTC, to the second, as `2026-01-02 03:04:05`. */
export function momentOf(timestamp: Timestamp): Html {
  const text = timestamp.slice(0, 19).replace('T', ' ');
  return html`<time datetime="${timestamp}" title="${text} UTC">${text}</time>`;
}
