// The running syncs, each with its progress and the time left, and the pending payments.

import { counted, formatCount } from '../../contract/format.ts';
import type { Figure } from '../../reports/figure.ts';
import type { PendingPayments, RunningSync } from '../../reports/read-activity.ts';
import { describeUnanswered } from '../../reports/read-freshness.ts';
import { bar } from '../bar.ts';
import { durationOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';

/** Before that, a rate is meaningless. */
const LEAST_SECONDS = 2;
/** A run saves its progress every few seconds, unless it waits for a pause that the API asked for. */
const SILENT_SECONDS = 60;

export interface Progress {
  /** From 0 to 1; null if the total is not known. */
  readonly share: number | null;
  /** Null if not known. */
  readonly leftSeconds: number | null;
  readonly words: string;
}

export function showRunning(
  href: (path: string) => string,
  running: Figure<RunningSync>,
  payments: Figure<PendingPayments>,
): Html {
  return section({
    id: 'running',
    title: 'Running now',
    figure: { ...running, sql: `${running.sql}\n\n${payments.sql}` },
    body: html`${
      running.rows.length === 0
        ? html`<p>No sync is running.</p>`
        : html`<ul class="rows">${running.rows.map((run) => showRun(run, href))}</ul>`
    }
<p class="quiet">${payments.rows.map(describePending)}</p>`,
  });
}

export function progressOf(run: RunningSync): Progress {
  const { expected_requests, requests, distinct_seen, total_upstream } = run;
  if (expected_requests !== null) {
    return judge(run, requests, expected_requests, counted(expected_requests, 'request'));
  }
  if (total_upstream === null) return { share: null, leftSeconds: null, words: 'waiting for the first page' };
  return judge(run, distinct_seen, total_upstream, counted(total_upstream, 'record'));
}

// A resumed run has no known rate, because it was interrupted.
function judge(run: RunningSync, done: number, whole: number, words: string): Progress {
  const share = whole === 0 ? 1 : Math.min(1, done / whole);
  const isRated = run.attempt === 1 && run.running_seconds >= LEAST_SECONDS && done > 0;
  const leftSeconds = isRated ? (run.running_seconds * (1 - share)) / share : null;
  return { share, leftSeconds, words: `${formatCount(done)} of ${words}` };
}

function showRun(run: RunningSync, href: (path: string) => string): Html {
  const { share, leftSeconds, words } = progressOf(run);
  const percent = share === null ? null : `${Math.floor(share * 100)} %`;
  const left = leftSeconds === null ? null : `about ${durationOf(leftSeconds)} left`;
  const unanswered = describeUnanswered(run.unanswered_seconds, run.unanswered_attempt);
  const saved =
    run.silent_seconds < SILENT_SECONDS ? null : `nothing saved for ${durationOf(run.silent_seconds)}`;
  return html`<li>
<p class="split"><span><a href="${href(`/runs/${run.id}`)}"><strong>${run.resource}</strong></a>, ${run.mode} sync</span>
<strong>${left ?? 'time left not known yet'}</strong></p>
${bar(`${run.resource}: ${percent ?? 'just begun'}`, 1, [{ amount: share ?? 0, fill: 'fill-mark' }])}
<p class="split quiet"><span>${[percent, words, counted(run.pages, 'page'), unanswered, saved].filter((part) => part !== null).join(' · ')}</span>
<span>for ${durationOf(run.running_seconds + run.silent_seconds)}</span></p>
</li>
`;
}

function describePending({ pending, applying, ready }: PendingPayments): string {
  if (pending === 0) return 'No payment is pending.';
  const parts = [
    `${formatCount(applying)} being applied now`,
    `${formatCount(ready)} ready to be`,
    `${formatCount(pending - applying - ready)} waiting for a retry or an earlier request`,
  ];
  return `${counted(pending, 'request')} for payment under way: ${parts.join(', ')}.`;
}
