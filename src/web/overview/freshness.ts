// How fresh each resource is, in plain words.

import { RESOURCES } from '../../contract/resources.ts';
import type { ResourceStatus } from '../../reports/read-freshness.ts';
import type { ShownHealth } from '../../reports/read-health.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import { durationOf, momentOf } from '../words.ts';

/** Returns the section. */
export function showFreshness({ health, sql }: ShownHealth, maxAgeSeconds: number): Html {
  const { resources, optional_lists } = health;
  return section({
    id: 'freshness',
    title: 'How fresh the mirror is',
    figure: { sql: sql.freshness, asOf: null },
    body: html`<ul class="rows">${resources.map((one) => showResource(one, maxAgeSeconds))}</ul>
${optional_lists
  .filter(({ is_used }) => !is_used)
  .map(({ resource }) => html`<p class="quiet">Of ${resource}, ${RESOURCES[resource].unlisted}.</p>`)}`,
  });
}

/** Returns the freshness as a sentence without a full stop. */
export function describeFreshness(resource: ResourceStatus): string {
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

function colourOf({ changes_age_seconds }: ResourceStatus, maxAgeSeconds: number): string {
  if (changes_age_seconds === null) return 'warn';
  return changes_age_seconds > maxAgeSeconds ? 'bad' : 'good';
}

function describeLast({ last_run_state, last_run_verified }: ResourceStatus): Html {
  if (last_run_state === null) return html`no sync yet`;
  if (last_run_state === 'running') return html`being synced now`;
  if (last_run_state === 'succeeded')
    return html`last sync succeeded${last_run_verified === true && ', verified'}`;
  return html`<span class="bad">last sync ${last_run_state}</span>`;
}
