// Cells and sentences of a view: money, durations, moments, missing values.

import { counted, formatDuration, formatTimestamp } from '../contract/format.ts';
import type { MoneyFormat } from '../contract/money.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { commandFor } from '../reports/concern-advice.ts';
import { type Html, html, type Part } from './html.ts';
import type { ViewRequest } from './view.ts';

/** Returns the command to run, for the program that the view is of. `words` follow the name of the software. */
export function command({ program }: Pick<ViewRequest, 'program'>, words: string): Html {
  return html`<code class="run">${commandFor(program, `affiliate-mirror ${words}`)}</code>`;
}

export const NOTHING = html`<span class="quiet">–</span>`;

export function orNothing(part: Part): Part {
  return part === null || part === '' ? NOTHING : part;
}

export function momentOrNothing(timestamp: Timestamp | null): Html {
  return timestamp === null ? NOTHING : momentOf(timestamp);
}

export function moneyOf(amount: number | null, currency: string | null, money: MoneyFormat): Part {
  return amount === null ? NOTHING : money.format(amount, currency);
}

/** `sum` is null if no number could hold it. */
export function sumOf(sum: number | null, currency: string | null, money: MoneyFormat): string {
  return sum === null ? 'too large to add up' : money.format(sum, currency);
}

export function tookOf(seconds: number): string {
  return formatDuration(Math.max(0, seconds) * 1000);
}

/** Returns the line with the age of memoized figures; null if they were read for this view. */
export function asOf(timestamp: Timestamp | null): Html | null {
  if (timestamp === null) return null;
  const ageSeconds = (Date.now() - Date.parse(timestamp)) / 1000;
  if (ageSeconds < NOTICEABLE_SECONDS) return null;
  return html`<p class="quiet">As of ${durationOf(ageSeconds)} ago, ${momentOf(timestamp)}: reading it takes long, so it is not read anew each time.</p>`;
}

const NOTICEABLE_SECONDS = 3;

/** Returns such as `12 seconds`, `3 minutes`, `9 hours`, `4 days`. */
export function durationOf(seconds: number): string {
  const unit = UNITS.find(({ from }) => seconds >= from) ?? SECOND;
  return counted(Math.max(0, Math.round(seconds / unit.seconds)), unit.noun);
}

const SECOND = { from: 0, seconds: 1, noun: 'second' };
/** Up to a hundred minutes and two days, the smaller unit is more precise. */
const UNITS = [
  { from: 48 * 3600, seconds: 86_400, noun: 'day' },
  { from: 100 * 60, seconds: 3600, noun: 'hour' },
  { from: 60, seconds: 60, noun: 'minute' },
  SECOND,
];

/** Returns the moment in the display zone as `formatTimestamp` does, in UTC without a Z. */
export function momentOf(timestamp: Timestamp): Html {
  const utc = `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime="${timestamp}" title="${utc}">${formatTimestamp(timestamp, '')}</time>`;
}
