// How fresh each resource is, in plain words.

import type { ResourceStatus } from '../../reports/read-freshness.ts';
import type { MirrorHealth } from '../../reports/read-health.ts';
import type { Html } from '../html.ts';
import { section } from '../section.ts';
import { table } from '../table.ts';
import { durationOf } from '../words.ts';

/** Returns the section. */
export function showFreshness({ resources }: MirrorHealth): Html {
  return section({
    id: 'freshness',
    title: 'How fresh the mirror is',
    sql: null,
    body: table({
      caption: 'How fresh each resource is',
      columns: [{ label: 'Resource' }, { label: 'Freshness' }, { label: 'Last sync' }],
      rows: resources.map((one) => [one.resource, describeFreshness(one), one.last_state ?? 'never']),
    }),
  });
}

/** Returns the freshness as a sentence. */
export function describeFreshness({ age_seconds, full_age_seconds }: ResourceStatus): string {
  if (age_seconds === null) return 'never synced';
  const fresh = `as new as ${durationOf(age_seconds)} ago`;
  if (full_age_seconds === null) return `${fresh}; never read whole`;
  if (full_age_seconds === age_seconds) return `${fresh}, when everything was read`;
  return `${fresh}; everything was read ${durationOf(full_age_seconds)} ago`;
}
