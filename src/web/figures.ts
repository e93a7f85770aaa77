// How money and what is missing look on a page.

import type { AmountUnit } from '../config/amount-unit.ts';
import { formatDuration } from '../contract/format.ts';
import { formatMoney } from '../contract/money.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { type Html, html, type Part } from './html.ts';
import { durationOf, momentOf } from './words.ts';

/** In a cell that has no value. */
export const NOTHING = html`<span class="quiet">–</span>`;

/** Returns the text, or a dash. */
export function orNothing(part: Part): Part {
  return part === null || part === '' ? NOTHING : part;
}

/** Returns the timestamp, or a dash. */
export function momentOrNothing(timestamp: Timestamp | null): Html {
  return timestamp === null ? NOTHING : momentOf(timestamp);
}

/** Returns the amount in its currency; a dash where it is not known. */
export function moneyOf(amount: number | null, currency: string | null, unit: AmountUnit): Part {
  return amount === null ? NOTHING : formatMoney(amount, currency, unit);
}

/** Returns a sum of a currency; one that no number could hold is said to be. */
export function sumOf(sum: number | null, currency: string | null, unit: AmountUnit): string {
  return sum === null ? 'too large to add up' : formatMoney(sum, currency, unit);
}

/** Returns how long a run or a request took. */
export function tookOf(seconds: number): string {
  return formatDuration(Math.max(0, seconds) * 1000);
}

/** Returns the line that says how old kept figures are; nothing where they were read for this page. */
export function asOf(timestamp: Timestamp | null): Html | null {
  if (timestamp === null) return null;
  const ageSeconds = (Date.now() - Date.parse(timestamp)) / 1000;
  if (ageSeconds < NOTICEABLE_SECONDS) return null;
  return html`<p class="quiet">As of ${durationOf(ageSeconds)} ago, ${momentOf(timestamp)}: reading it takes long, so it is not read anew each time.</p>`;
}

/** A page that took a moment to read is no news. */
const NOTICEABLE_SECONDS = 3;
