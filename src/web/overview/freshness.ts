// How fresh each resource is, in plain words.

import { freshnessSql } from '../../reports/health-statements.ts';
import type { ResourceStatus } from '../../reports/read-freshness.ts';
import type { MirrorHealth } from '../../reports/read-health.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';
import { table } from '../table.ts';
import { durationOf, momentOf } from '../words.ts';

/** Returns the section. */
export function showFreshness(
  schema: string,
  { resources, commission_list }: MirrorHealth,
  maxAgeSeconds: number,
): Html {
  return section({
    id: 'freshness',
    title: 'How fresh the mirror is',
    sql: freshnessSql(schema),
    body: html`${table({
      caption: 'How fresh each resource is',
      columns: [
        { label: 'Resource' },
        { label: 'Freshness' },
        { label: 'As new as (UTC)' },
        { label: 'Last sync' },
      ],
      rows: resources.map((one) => [
        one.resource,
        html`<span class="${colourOf(one, maxAgeSeconds)}">${describeFreshness(one)}</span>`,
        one.fresh_as_of === null ? html`<span class="quiet">never</span>` : momentOf(one.fresh_as_of),
        describeLast(one),
      ]),
    })}
${!commission_list.is_used && html`<p class="quiet">Commissions: only known ones are mirrored, and asked for one by one.</p>`}`,
  });
}

/** Returns the freshness as a sentence. */
export function describeFreshness({
  age_seconds,
  full_age_seconds,
  full_as_of,
  fresh_as_of,
}: ResourceStatus): string {
  if (age_seconds === null) return 'Never synced';
  const fresh = `As new as ${durationOf(age_seconds)} ago`;
  if (full_age_seconds === null) return `${fresh}; never read whole`;
  if (full_as_of === fresh_as_of) return `${fresh}, when everything was read`;
  return `${fresh}; everything was read ${durationOf(full_age_seconds)} ago`;
}

function colourOf({ age_seconds }: ResourceStatus, maxAgeSeconds: number): string {
  if (age_seconds === null) return 'warn';
  return age_seconds > maxAgeSeconds ? 'bad' : 'good';
}

function describeLast({ last_state, last_verified }: ResourceStatus): Html {
  if (last_state === null) return html`<span class="quiet">none yet</span>`;
  if (last_state === 'succeeded') return html`${last_state}${last_verified === true && ', verified'}`;
  if (last_state === 'running') return html`${last_state}`;
  return html`<span class="bad">${last_state}</span>`;
}
