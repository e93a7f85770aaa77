// What comes next by itself: schedules, polls, and payments that are tried again.

import type { Timestamp } from '../../contract/timestamp.ts';
import type { Figure } from '../../reports/figure.ts';
import type { NextPoll } from '../../reports/read-activity.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import type { Upcoming } from '../upcoming.ts';
import { durationOf, momentOf } from '../words.ts';

export interface UpcomingFacts {
  readonly now: Timestamp;
  readonly scheduled: readonly Upcoming[];
  readonly nextPoll: Figure<NextPoll>;
  readonly nextTry: Timestamp | null;
}

/** Returns the section. */
export function showUpcoming({ now, scheduled, nextPoll, nextTry }: UpcomingFacts): Html {
  const rows = [
    ...scheduled.map(({ what, at, variable }) => ({ what, at, why: variable })),
    ...nextPoll.rows.flatMap(({ next_poll_at: at }) =>
      at === null ? [] : [{ what: 'Poll of known commissions', at, why: null }],
    ),
    ...(nextTry === null ? [] : [{ what: 'Another try of a payment', at: nextTry, why: null }]),
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return section({
    id: 'upcoming',
    title: 'What comes next',
    figure: nextPoll,
    body:
      rows.length === 0
        ? html`<p>Nothing by itself: no schedule is set in this process.</p>`
        : html`<ul class="rows">${rows.map(
            ({ what, at, why }) => html`<li class="split"><span><strong>${what}</strong>${
              why !== null && html` <small><code>${why}</code></small>`
            }</span>
<span><strong>${waitUntil(now, at)}</strong> <span class="quiet">· ${momentOf(at)}</span></span></li>
`,
          )}</ul>`,
  });
}

function waitUntil(now: Timestamp, at: Timestamp): string {
  const seconds = (Date.parse(at) - Date.parse(now)) / 1000;
  return seconds <= 0 ? 'now' : `in ${durationOf(seconds)}`;
}
