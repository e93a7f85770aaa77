// What runs now: each sync with its progress and the time that is left, and the payments that are under way.

import { counted, formatCount } from '../../contract/format.ts';
import type { Figure } from '../../reports/figure.ts';
import type { PendingPayments, RunningSync } from '../../reports/read-activity.ts';
import { bar } from '../bar.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import { durationOf } from '../words.ts';

/** Before that, a rate says nothing. */
const LEAST_SECONDS = 2;
/** A run saves its progress every few seconds; one that waits for the program's pause does not. */
const SILENT_SECONDS = 60;

export interface Progress {
  /** From 0 to 1; null while nothing says how much there is. */
  readonly share: number | null;
  /** Null where nothing tells it. */
  readonly leftSeconds: number | null;
  readonly words: string;
}

/** Returns the section. */
export function showRunning(
  href: (path: string) => string,
  running: Figure<RunningSync>,
  payments: Figure<PendingPayments>,
): Html {
  return section({
    id: 'running',
    title: 'What runs now',
    figure: { ...running, sql: `${running.sql}\n\n${payments.sql}` },
    body: html`${
      running.rows.length === 0
        ? html`<p>No sync runs at this moment.</p>`
        : html`<ul class="rows">${running.rows.map((run) => showRun(run, href))}</ul>`
    }
<p class="quiet">${payments.rows.map(describePending)}</p>`,
  });
}

/** Returns how far a run has come, as far as its own figures say. */
export function progressOf(run: RunningSync): Progress {
  const { expected_requests, requests, distinct_seen, total_upstream } = run;
  if (expected_requests !== null) {
    return judge(run, requests, expected_requests, counted(expected_requests, 'request'));
  }
  if (total_upstream === null) return { share: null, leftSeconds: null, words: 'the first page is awaited' };
  return judge(run, distinct_seen, total_upstream, counted(total_upstream, 'record'));
}

// A run that was taken up again had a pause in between, which says nothing of its rate.
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
  const saved =
    run.silent_seconds < SILENT_SECONDS ? null : `nothing saved for ${durationOf(run.silent_seconds)}`;
  return html`<li>
<p class="split"><span><a href="${href(`/runs/${run.id}`)}"><strong>${run.resource}</strong></a>, ${run.mode} sync</span>
<strong>${left ?? 'time left not known yet'}</strong></p>
${bar(`${run.resource}: ${percent ?? 'just begun'}`, 1, [{ amount: share ?? 0, fill: 'fill-mark' }])}
<p class="split quiet"><span>${[percent, words, counted(run.pages, 'page'), saved].filter((part) => part !== null).join(' · ')}</span>
<span>for ${durationOf(run.running_seconds + run.silent_seconds)}</span></p>
</li>
`;
}

function describePending({ pending, applying, ready }: PendingPayments): string {
  if (pending === 0) return 'No payment is waiting.';
  const parts = [
    `${formatCount(applying)} being applied now`,
    `${formatCount(ready)} ready to be`,
    `${formatCount(pending - applying - ready)} waiting for another try or an earlier request`,
  ];
  return `${counted(pending, 'request')} for payment under way: ${parts.join(', ')}.`;
}
