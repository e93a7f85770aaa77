// The verdict on the mirror: all is well, or each concern with its start and the command to run.

import { ERROR_WORDS } from '../../base/error-words.ts';
import { counted } from '../../contract/format.ts';
import { isMild } from '../../reports/concern-advice.ts';
import type { Concern } from '../../reports/find-concerns.ts';
import { describeUnanswered } from '../../reports/read-freshness.ts';
import type { MirrorHealth, ShownHealth } from '../../reports/read-health.ts';
import { durationOf, momentOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { showSql } from '../section.ts';
import type { ViewRequest } from '../view.ts';

export function showVerdict(
  { health, sql }: ShownHealth,
  concerns: readonly Concern[],
  request: Pick<ViewRequest, 'mayReadPeople' | 'href'>,
): Html {
  const isWell = concerns.length === 0;
  const areMild = concerns.every(isMild);
  return html`<section class="verdict${!isWell && (areMild ? ' warn' : ' bad')}" id="verdict" aria-labelledby="verdict-title">
<h1 id="verdict-title">${titleOf(concerns, areMild)}</h1>
${isWell ? html`<p>${describeWell(health)}</p>` : html`<ul class="concerns">${concerns.map((concern) => showConcern(concern, health, request))}</ul>`}
${showSql('the verdict', Object.values(sql).join('\n\n'))}
</section>
`;
}

function titleOf(concerns: readonly Concern[], areMild: boolean): string {
  if (concerns.length === 0) return 'All is well.';
  const things = counted(concerns.length, 'thing');
  return areMild ? `Not quite well: ${things} to look at.` : `Not well: ${things} to look at.`;
}

function describeWell({ resources }: MirrorHealth): string {
  const never = resources.filter(({ changes_age_seconds }) => changes_age_seconds === null);
  if (never.length > 0) {
    return `The first sync of ${never.map(({ resource }) => resource).join(' and ')} is running.`;
  }
  const ages = resources.flatMap(({ changes_age_seconds }) => changes_age_seconds ?? []);
  return `Nothing in the mirror is older than ${durationOf(Math.max(...ages))}, ${describeSyncs(resources)}, and no payment failed.`;
}

// A running sync may follow a failed one.
function describeSyncs(resources: MirrorHealth['resources']): string {
  const running = resources.filter(({ last_run_state }) => last_run_state === 'running');
  if (running.length === 0) return 'the last syncs were verified';
  const names = running.map(({ resource, last_run_unanswered_seconds, last_run_unanswered_attempt }) => {
    const late = describeUnanswered(last_run_unanswered_seconds, last_run_unanswered_attempt);
    return late === null ? resource : `${resource} (${late})`;
  });
  return `a sync of ${names.join(' and ')} is running`;
}

// The words of an error may quote an answer of the API: its code and what that means are shown instead.
function showConcern(
  { code, resource, what, summary, error_code, since, fix, if_it_stays }: Concern,
  { resources }: MirrorHealth,
  { mayReadPeople, href }: Pick<ViewRequest, 'mayReadPeople' | 'href'>,
): Html {
  const said = mayReadPeople ? what : `${summary}${error_code === null ? '' : ` (${error_code})`}`;
  const meaning = mayReadPeople || error_code === null ? null : (ERROR_WORDS[error_code] ?? null);
  const run = resources.find((one) => one.resource === resource && code.startsWith('sync_'))?.last_run_id;
  return html`<li>${said.charAt(0).toUpperCase()}${said.slice(1)}${
    since !== null && html` (since ${momentOf(since)})`
  }. ${meaning}${run !== undefined && html` <a href="${href(`/runs/${run}`)}">Run ${run}</a>`}
<br>Run: <code class="run">${fix}</code>. If it stays: ${if_it_stays}.</li>
`;
}
