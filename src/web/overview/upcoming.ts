// The next scheduled syncs and exports, polls, and retries of payments.

import type { Timestamp } from '../../contract/timestamp.ts';
import type { Figure } from '../../reports/figure.ts';
import type { NextPoll } from '../../reports/read-activity.ts';
import { durationOf, momentOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import type { Upcoming } from '../view.ts';

export interface UpcomingFacts {
  readonly now: Timestamp;
  readonly scheduled: readonly Upcoming[];
  readonly nextPoll: Figure<NextPoll>;
  readonly nextTry: Timestamp | null;
}

export function showUpcoming({ now, scheduled, nextPoll, nextTry }: UpcomingFacts): Html {
  const rows = [
    ...scheduled.map(({ what, atMs, moment, variable }) => ({ what, atMs, moment, why: variable })),
    ...nextPoll.rows.flatMap(({ next_poll_at: at }) =>
      at === null ? [] : [unscheduled('Poll of known commissions', at)],
    ),
    ...(nextTry === null ? [] : [unscheduled('Retry of a payment', nextTry)]),
  ].toSorted((a, b) => a.atMs - b.atMs);
  return section({
    id: 'upcoming',
    title: 'Next',
    figure: nextPoll,
    body:
      rows.length === 0
        ? html`<p>Nothing: no schedule is set.</p>`
        : html`<ul class="rows">${rows.map(
            ({ what, atMs, moment, why }) => html`<li class="split"><span><strong>${what}</strong>${
              why !== null && html` <small><code>${why}</code></small>`
            }</span>
<span><strong>${waitUntil(now, atMs)}</strong> <span class="quiet">· ${moment}</span></span></li>
`,
          )}</ul>`,
  });
}

function unscheduled(what: string, at: Timestamp) {
  return { what, atMs: Date.parse(at), moment: momentOf(at), why: null };
}

function waitUntil(now: Timestamp, atMs: number): string {
  const seconds = (atMs - Date.parse(now)) / 1000;
  return seconds <= 0 ? 'now' : `in ${durationOf(seconds)}`;
}
