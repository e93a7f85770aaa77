// Whether all is well, in one sentence and a colour; and if not, why, since when, and the command to run.

import { counted } from '../../contract/format.ts';
import type { Concern, ConcernCode } from '../../reports/find-concerns.ts';
import type { MirrorHealth, ShownHealth } from '../../reports/read-health.ts';
import { type Html, html } from '../html.ts';
import { showSql } from '../section.ts';
import { durationOf, momentOf } from '../words.ts';

/** What waits for somebody, or for time to pass; everything else is wrong now. */
const MILD: readonly ConcernCode[] = ['deletions_held_back', 'records_rejected', 'throttled', 'never_synced'];

/** Returns the section that the page begins with. */
export function showVerdict(
  { health, sql }: ShownHealth,
  concerns: readonly Concern[],
  mayReadPeople: boolean,
): Html {
  const isWell = concerns.length === 0;
  const isMild = concerns.every(({ code }) => MILD.includes(code));
  return html`<section class="verdict${!isWell && (isMild ? ' warn' : ' bad')}" id="verdict" aria-labelledby="verdict-title">
<h1 id="verdict-title">${titleOf(concerns, isMild)}</h1>
${isWell ? html`<p>${describeWell(health)}</p>` : html`<ul class="concerns">${concerns.map((concern) => showConcern(concern, mayReadPeople))}</ul>`}
${showSql('the verdict', Object.values(sql).join('\n\n'))}
</section>
`;
}

function titleOf(concerns: readonly Concern[], isMild: boolean): string {
  if (concerns.length === 0) return 'All is well.';
  const things = counted(concerns.length, 'thing');
  return isMild ? `Not quite well: ${things} to look at.` : `Not well: ${things} to look at.`;
}

/** Returns what "well" means here, with the figure that matters most. */
function describeWell({ resources }: MirrorHealth): string {
  const never = resources.filter(({ changes_age_seconds }) => changes_age_seconds === null);
  if (never.length > 0) {
    return `The first sync of ${never.map(({ resource }) => resource).join(' and ')} is under way.`;
  }
  const ages = resources.flatMap(({ changes_age_seconds }) => changes_age_seconds ?? []);
  return `Nothing in the mirror is older than ${durationOf(Math.max(...ages))}, ${describeSyncs(resources)}, and no payment failed.`;
}

// One that is under way may follow one that failed.
function describeSyncs(resources: MirrorHealth['resources']): string {
  const running = resources.filter(({ last_run_state }) => last_run_state === 'running');
  if (running.length === 0) return 'the last syncs were verified';
  return `a sync of ${running.map(({ resource }) => resource).join(' and ')} is under way`;
}

// The words of an error may quote what the program sent: its code says what kind it is of.
function showConcern({ what, summary, error_code, since, fix }: Concern, mayReadPeople: boolean): Html {
  const said = mayReadPeople ? what : `${summary}${error_code === null ? '' : ` (${error_code})`}`;
  return html`<li>${said.charAt(0).toUpperCase()}${said.slice(1)}${
    since !== null && html` (since ${momentOf(since)})`
  }.<br>Run: <code class="run">${fix}</code></li>
`;
}
