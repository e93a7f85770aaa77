// The run log: the last runs over time, and all of them in a table.

import { formatCount } from '../../contract/format.ts';
import { LISTED_RESOURCES } from '../../contract/resources.ts';
import { runState } from '../../reports/fields.ts';
import { type RunLine, readRunLog, readRunSeries } from '../../reports/read-runs.ts';
import { command, momentOf, tookOf } from '../cells.ts';
import { drawRuns } from '../charts/run-chart.ts';
import { type Html, html } from '../html.ts';
import { pager } from '../pager.ts';
import { readChoice, readId } from '../query.ts';
import { section } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { column, numbers, table } from '../table.ts';
import type { View, ViewRequest } from '../view.ts';

export const runsView: View = {
  path: '/runs',
  label: 'Runs',
  async read(deps, request) {
    const { query, href } = request;
    const filter = {
      resource: readChoice(query['resource'], LISTED_RESOURCES),
      state: readChoice(query['state'], runState.options),
    };
    const before = readId(query['before']);
    const series = await readRunSeries(deps, filter);
    const log = await readRunLog(deps, { ...filter, before });
    const isFiltered = filter.resource !== null || filter.state !== null;
    const none = isFiltered
      ? html`<p>No run matches. <a href="${href('/runs')}">All runs</a></p>`
      : html`<p>Nothing was synced yet. The first run begins with ${command(request, 'sync')}, or by a worker's schedule.</p>`;
    return {
      title: 'Runs',
      body: html`<h1>Runs</h1>
${filterForm(request, filter)}
${section({
  id: 'last-runs',
  title: 'The last runs',
  figure: series,
  body: series.rows.length === 0 ? none : drawRuns(series.rows),
})}
${section({
  id: 'run-log',
  title: before === null ? 'Run log' : `Run log, before run ${before}`,
  figure: log,
  body: html`${log.rows.length === 0 ? none : logTable(log.rows, href)}
${pager(request, { label: 'the run log', path: '/runs', query: filter, at: before, next: log.next })}`,
})}`,
    };
  },
};

function filterForm(
  { href }: ViewRequest,
  chosen: { readonly resource: string | null; readonly state: string | null },
): Html {
  return html`<form method="get" action="${href('/runs')}" role="search" aria-label="Runs">
${choice('resource', 'any resource', LISTED_RESOURCES, chosen.resource)}
${choice('state', 'any state', runState.options, chosen.state)}
<button>Show</button>
</form>`;
}

function choice(name: string, any: string, choices: readonly string[], chosen: string | null): Html {
  return html`<label>${name}<select name="${name}"><option value="">${any}</option>${choices.map(
    (one) => html`<option${one === chosen && html` selected`}>${one}</option>`,
  )}</select></label>`;
}

function logTable(runs: readonly RunLine[], href: ViewRequest['href']): Html {
  return table('Runs, newest first', runs, [
    column('run', ({ id }) => html`<a href="${href(`/runs/${id}`)}">${id}</a>`),
    column('resource', ({ resource }) => resource),
    column('mode', ({ mode }) => mode),
    column(
      'state',
      ({ state, error_code: code }) =>
        html`${stateMark(state)}${code !== null && html`<br><small>${code}</small>`}`,
    ),
    column('started', ({ started_at }) => momentOf(started_at)),
    numbers('took', ({ duration_seconds }) => tookOf(duration_seconds)),
    numbers('requests', ({ requests }) => formatCount(requests)),
    numbers('records', ({ records }) => formatCount(records)),
    numbers('inserted', ({ rows_inserted }) => formatCount(rows_inserted)),
    numbers('updated', ({ rows_updated }) => formatCount(rows_updated)),
    numbers('deleted', ({ rows_deleted }) => formatCount(rows_deleted)),
    numbers('held back', ({ deletes_held_back }) => formatCount(deletes_held_back)),
    numbers('rejected', ({ rows_rejected }) => formatCount(rows_rejected)),
  ]);
}
