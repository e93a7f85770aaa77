// What comes next by itself: schedules, polls, and payments that are tried again.

import type { Timestamp } from '../../contract/timestamp.ts';
import { nextPollSql } from '../../reports/read-activity.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import { table } from '../table.ts';
import type { Upcoming } from '../upcoming.ts';
import { durationOf, momentOf } from '../words.ts';

export interface UpcomingFacts {
  readonly now: Timestamp;
  readonly scheduled: readonly Upcoming[];
  readonly nextPoll: Timestamp | null;
  readonly nextTry: Timestamp | null;
}

/** Returns the section. */
export function showUpcoming(schema: string, { now, scheduled, nextPoll, nextTry }: UpcomingFacts): Html {
  const rows = [
    ...scheduled.map(({ what, at, variable }) => ({ what, at, why: variable })),
    ...(nextPoll === null ? [] : [{ what: 'Poll of known commissions', at: nextPoll, why: null }]),
    ...(nextTry === null ? [] : [{ what: 'Another try of a payment', at: nextTry, why: null }]),
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return section({
    id: 'upcoming',
    title: 'What comes next',
    sql: nextPollSql(schema),
    body:
      rows.length === 0
        ? html`<p>Nothing by itself: no schedule is set in this process.</p>`
        : table({
            caption: 'What comes next, and when',
            columns: [{ label: 'What' }, { label: 'In' }, { label: 'At' }],
            rows: rows.map(({ what, at, why }) => [
              html`${what}${why !== null && html` <small>(${why})</small>`}`,
              waitUntil(now, at),
              momentOf(at),
            ]),
          }),
  });
}

function waitUntil(now: Timestamp, at: Timestamp): string {
  const seconds = (Date.parse(at) - Date.parse(now)) / 1000;
  return seconds <= 0 ? 'now' : durationOf(seconds);
}
