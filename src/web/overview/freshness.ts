// The freshness of each resource, in words.

import { RESOURCES } from '../../contract/resources.ts';
import { describeUnanswered, type ResourceStatus } from '../../reports/read-freshness.ts';
import type { ShownHealth } from '../../reports/read-health.ts';
import { durationOf, momentOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';

export function showFreshness({ health, sql }: ShownHealth, maxAgeSeconds: number): Html {
  const { resources, optional_lists } = health;
  return section({
    id: 'freshness',
    title: 'Freshness',
    figure: { sql: sql.freshness, asOf: null },
    body: html`<ul class="rows">${resources.map((one) => showResource(one, maxAgeSeconds))}</ul>
${optional_lists
  .filter(({ is_used }) => !is_used)
  .map(({ resource }) => html`<p class="quiet">${resource}: ${RESOURCES[resource].unlisted}.</p>`)}`,
  });
}

/** Without a full stop. */
function describeFreshness(resource: ResourceStatus): string {
  const { changes_age_seconds, everything_age_seconds, everything_as_of, changes_as_of } = resource;
  if (changes_age_seconds === null) return 'never synced';
  const fresh = `as new as ${durationOf(changes_age_seconds)} ago`;
  if (everything_age_seconds === null) return `${fresh}; never read whole`;
  if (everything_as_of === changes_as_of) return `${fresh}, when everything was read`;
  return `${fresh}; everything was read ${durationOf(everything_age_seconds)} ago`;
}

function showResource(one: ResourceStatus, maxAgeSeconds: number): Html {
  return html`<li class="split"><span><strong>${one.resource}</strong>: <span class="${colourOf(one, maxAgeSeconds)}">${describeFreshness(one)}</span></span>
<span class="quiet">${one.changes_as_of !== null && html`${momentOf(one.changes_as_of)} · `}${describeLast(one)}</span></li>
`;
}

// Not green while the syncs since then fail, are not verified or wait for an answer.
function colourOf(one: ResourceStatus, maxAgeSeconds: number): string {
  const { changes_age_seconds, failing_since, unverified_since, last_run_unanswered_seconds } = one;
  if (changes_age_seconds === null) return 'warn';
  if (changes_age_seconds > maxAgeSeconds) return 'bad';
  const isGood =
    (failing_since ?? unverified_since ?? last_run_unanswered_seconds) === null &&
    one.last_run_state !== 'interrupted';
  return isGood ? 'good' : 'warn';
}

function describeLast(one: ResourceStatus): Html {
  const { last_run_state, last_run_verified, last_run_unanswered_seconds, last_run_unanswered_attempt } = one;
  if (last_run_state === null) return html`no sync yet`;
  if (last_run_state === 'running') {
    const unanswered = describeUnanswered(last_run_unanswered_seconds, last_run_unanswered_attempt);
    return html`being synced now${unanswered !== null && html`: <span class="warn">${unanswered}</span>`}`;
  }
  if (last_run_state === 'succeeded')
    return html`last sync succeeded${last_run_verified === true && ', verified'}`;
  return html`<span class="bad">last sync ${last_run_state}</span>`;
}
