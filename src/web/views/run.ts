// One run: its outcome, its plan, and whether its counts add up. Its findings: run-findings.ts.

import { ERROR_WORDS } from '../../base/error-words.ts';
import { counted, formatCount } from '../../contract/format.ts';
import { fixFailedSync, ifSyncFailsAgain } from '../../reports/concern-advice.ts';
import { type RunDetails, readRun, readRunDrift } from '../../reports/read-run.ts';
import { momentOf, momentOrNothing, tookOf } from '../cells.ts';
import { type Html, html, type Part } from '../html.ts';
import { readId } from '../query.ts';
import { section } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { notThere, type View } from '../view.ts';
import { driftSection, heldBackSection, rejectedSection } from './run-findings.ts';

export const runView: View = {
  path: '/runs/:id',
  label: null,
  async read(deps, request) {
    const asked = request.params['id'] ?? '';
    const id = readId(asked);
    const figure = id === null ? null : await readRun(deps, id, request);
    const run = figure?.rows[0];
    if (figure === null || run === undefined) {
      return notThere(`The run log has no run ${asked}.`, { href: request.href('/runs'), label: 'All runs' });
    }
    const drift = await readRunDrift(deps, run.id);
    return {
      title: `Run ${run.id}`,
      body: html`<h1>Run ${run.id} of ${run.resource}</h1>
${section({ id: 'outcome', title: 'Outcome', figure, body: describeOutcome(run) })}
${section({ id: 'counts', title: 'Records read', figure, body: describeCounts(run) })}
${section({ id: 'plan', title: 'Plan', figure, body: describePlan(run) })}
${driftSection(drift)}
${await rejectedSection(deps, request, run)}
${await heldBackSection(deps, request, run)}`,
    };
  },
};

function describeOutcome(run: RunDetails): Html {
  const { state, mode, verified, attempt, error, error_code, started_at, finished_at, last_saved_at } = run;
  return html`<dl class="figures">
${figure('state', stateMark(state))}
${figure('mode', mode)}
${figure('verified', verified ? 'yes' : 'no')}
${figure('took', tookOf(run.duration_seconds))}
${figure('attempt', formatCount(attempt))}
${figure('requests', formatCount(run.requests))}
${figure('pages', formatCount(run.pages))}
</dl>
<p>Started ${momentOf(started_at)}, ${
    finished_at === null
      ? html`still running; last saved ${momentOf(last_saved_at)}`
      : html`ended ${momentOrNothing(finished_at)}`
  }. ${describeVerified(run)}</p>
${attempt > 1 && html`<p>It was interrupted and resumed: this is attempt ${attempt}.</p>`}
${error !== null && html`<p class="${state === 'skipped' ? 'quiet' : 'bad'}">${error}</p>`}
${
  error_code !== null &&
  html`<dl class="error"><dt><code>${error_code}</code></dt><dd>${ERROR_WORDS[error_code] ?? 'This version of affiliate-mirror does not know the code.'}</dd></dl>`
}
${
  state === 'failed' &&
  html`<p>Run: <code class="run">${fixFailedSync(run.resource, error_code)}</code> <span class="quiet">If it fails again: ${ifSyncFailsAgain(error_code)}.</span></p>`
}`;
}

function describeVerified({ verified, plan, state, total_upstream, distinct_seen }: RunDetails): string {
  const said =
    total_upstream === null ? 'the API gave no total' : `the API says ${formatCount(total_upstream)}`;
  const counts = `${counted(distinct_seen, 'different record')} seen, ${said}`;
  if (verified && plan?.['strategy'] === 'delta') {
    return 'Verified: it missed nothing of the lists that it read. The next full sync sees the changes that a delta cannot see.';
  }
  if (verified) return `Verified: it missed nothing (${counts}).`;
  if (state === 'running') return 'It is verified at its end.';
  if (state === 'skipped') return 'It read nothing.';
  return `Not verified: it may have missed records, and therefore marked nothing deleted (${counts}).`;
}

function describeCounts(run: RunDetails): Html {
  const { rows_seen, rows_sum } = run;
  const parts = [
    [run.rows_inserted, 'inserted'],
    [run.rows_updated, 'updated'],
    [run.rows_unchanged, 'unchanged'],
    [run.rows_rejected, 'rejected'],
    [run.rows_repeated, 'read again'],
  ] as const;
  return html`<p class="sum"><strong>${formatCount(rows_seen)}</strong> read = ${parts.map(
    ([count, word], index) => html`${index > 0 && ' + '}<strong>${formatCount(count)}</strong> ${word}`,
  )}</p>
${
  rows_sum === rows_seen
    ? html`<p class="good">The counts add up: the five come to ${formatCount(rows_sum)}.</p>`
    : html`<p class="bad">The counts do not add up: the five come to ${formatCount(rows_sum)}. Please report this.</p>`
}
<dl class="figures">
${figure('marked deleted', formatCount(run.rows_deleted))}
${figure('held back', formatCount(run.deletes_held_back))}
</dl>`;
}

function describePlan({ plan, reads_everything, resource }: RunDetails): Html {
  if (plan === null) {
    const words = reads_everything
      ? `Full: to read all ${resource}, page by page.`
      : 'Delta: it ended before it had a plan.';
    return html`<p>${words}</p>`;
  }
  const read = (name: string) => {
    const value = plan[name];
    return typeof value === 'number' ? value : null;
  };
  const [expected, whole] = [read('expected_requests'), read('full_walk_requests')];
  const [affiliates, open, moved] = [read('moved_affiliates'), read('open_records'), read('moved_records')];
  return html`<p>${
    plan['strategy'] === 'full'
      ? `Full: to read all ${resource}, because a delta would cost as many requests, or no full sync has ended yet.`
      : `Delta: to read only changes of ${resource}.`
  }</p>
${affiliates !== null && html`<p>${counted(affiliates, 'affiliate')} had counters that moved by more than the new referrals explain.</p>`}
${open !== null && html`<p>${counted(open, resource.slice(0, -1))} were open${moved !== null && `; ${formatCount(moved)} of them no longer are`}.</p>`}
${expected !== null && html`<p>It expected to need ${counted(expected, 'request')}${whole !== null && `; reading everything takes ${formatCount(whole)}`}.</p>`}`;
}

function figure(label: string, value: Part): Html {
  return html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`;
}
