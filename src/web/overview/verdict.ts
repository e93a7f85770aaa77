// Whether all is well, in one sentence and a colour; and if not, why, since when, and the command to run.

import type { Concern, ConcernCode } from '../../reports/find-concerns.ts';
import { type Html, html } from '../html.ts';
import { counted, momentOf } from '../words.ts';

/** What a person has to look at some day, and what needs nobody: everything else is wrong now. */
const MILD: readonly ConcernCode[] = ['deletions_held_back', 'records_rejected', 'throttled', 'never_synced'];

/** Returns the section that the page begins with. */
export function showVerdict(concerns: readonly Concern[]): Html {
  const [first] = concerns;
  if (first === undefined) {
    return html`<section class="verdict" id="verdict" aria-labelledby="verdict-title">
<h1 id="verdict-title">All is well</h1>
<p>The mirror is fresh, its last syncs were verified, and no payment failed.</p>
</section>
`;
  }
  const kind = concerns.every(({ code }) => MILD.includes(code)) ? 'warn' : 'bad';
  const title =
    concerns.length === 1 ? 'Not well' : `Not well: ${counted(concerns.length, 'thing')} to look at`;
  return html`<section class="verdict ${kind}" id="verdict" aria-labelledby="verdict-title">
<h1 id="verdict-title">${title}</h1>
<ul class="concerns">${concerns.map(showConcern)}</ul>
</section>
`;
}

function showConcern({ what, since, fix }: Concern): Html {
  return html`<li>${what.charAt(0).toUpperCase()}${what.slice(1)}${
    since !== null && html` (since ${momentOf(since)})`
  }.<br>Run: <code class="run">${fix}</code></li>
`;
}
