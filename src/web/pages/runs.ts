// The run log: the last runs over time, and all of them in a table.

import { formatCount } from '../../contract/format.ts';
import { LISTED_RESOURCES } from '../../contract/resources.ts';
import type { RunState } from '../../db/tables.ts';
import { type RunLine, type RunPoint, readRunLog, readRunSeries } from '../../reports/read-run-log.ts';
import { drawRuns, type RunMeasure } from '../charts/run-chart.ts';
import { tookOf } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { Page, PageRequest } from '../page.ts';
import { pager } from '../pager.ts';
import { readChoice, readId, withQuery } from '../query.ts';
import { section } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { table } from '../table.ts';
import { momentOf } from '../words.ts';

const STATES: readonly RunState[] = ['running', 'succeeded', 'partial', 'failed', 'interrupted', 'skipped'];

const MEASURES: readonly RunMeasure[] = [
  {
    id: 'chart-records',
    title: 'Records read',
    unit: 'records',
    read: ({ records }) => records,
    spell: formatCount,
  },
  {
    id: 'chart-requests',
    title: 'Requests sent',
    unit: 'requests',
    read: ({ requests }) => requests,
    spell: formatCount,
  },
  {
    id: 'chart-duration',
    title: 'Time taken',
    unit: 'time',
    read: ({ duration_seconds }) => duration_seconds,
    spell: tookOf,
    spellTick: (seconds, most) => {
      const [size, word] = most >= 7200 ? [3600, 'h'] : most >= 120 ? [60, 'min'] : [1, 's'];
      return `${Math.round((seconds / size) * 10) / 10} ${word}`;
    },
  },
];

export const runsPage: Page = {
  path: '/runs',
  label: 'Runs',
  async read(deps, request) {
    const { query, href } = request;
    const filter = {
      resource: readChoice(query['resource'], LISTED_RESOURCES),
      state: readChoice(query['state'], STATES),
    };
    const before = readId(query['before']);
    const series = await readRunSeries(deps, filter);
    const log = await readRunLog(deps, { ...filter, before });
    const isFiltered = filter.resource !== null || filter.state !== null;
    const none = isFiltered
      ? html`<p>No run fits. <a href="${href('/runs')}">All runs</a></p>`
      : html`<p>Nothing was synced yet. The first run begins with <code class="run">affiliate-mirror sync</code>, or by a worker's schedule.</p>`;
    return {
      title: 'Runs',
      body: html`<h1>Runs</h1>
${filterForm(request, filter)}
${section({
  id: 'last-runs',
  title: 'The last runs',
  sql: series.sql,
  body: series.rows.length === 0 ? none : await drawAll(series.rows),
})}
${section({
  id: 'run-log',
  title: before === null ? 'Run log' : `Run log, before run ${before}`,
  sql: log.sql,
  body: html`${log.rows.length === 0 ? none : logTable(log.rows, href)}
${pager({
  label: 'the run log',
  first: before === null ? null : href(withQuery('/runs', filter)),
  next: log.next === null ? null : href(withQuery('/runs', { ...filter, before: log.next })),
})}`,
})}`,
    };
  },
};

async function drawAll(runs: readonly RunPoint[]): Promise<Html> {
  const charts = [];
  for (const measure of MEASURES) charts.push(drawRuns(runs, measure));
  return html`<div class="charts">${charts}</div>`;
}

function filterForm(
  { href }: PageRequest,
  chosen: { readonly resource: string | null; readonly state: string | null },
): Html {
  return html`<form method="get" action="${href('/runs')}" role="search" aria-label="Runs">
${choice('resource', 'any resource', LISTED_RESOURCES, chosen.resource)}
${choice('state', 'any state', STATES, chosen.state)}
<button>Show</button>
</form>`;
}

function choice(name: string, any: string, choices: readonly string[], chosen: string | null): Html {
  return html`<label>${name}<select name="${name}"><option value="">${any}</option>${choices.map(
    (one) => html`<option${one === chosen && html` selected`}>${one}</option>`,
  )}</select></label>`;
}

function logTable(runs: readonly RunLine[], href: PageRequest['href']): Html {
  return table({
    caption: 'Runs, newest first',
    columns: [
      { label: 'run' },
      { label: 'resource' },
      { label: 'mode' },
      { label: 'state' },
      { label: 'started' },
      { label: 'took', isNumber: true },
      { label: 'requests', isNumber: true },
      { label: 'records', isNumber: true },
      { label: 'inserted', isNumber: true },
      { label: 'updated', isNumber: true },
      { label: 'deleted', isNumber: true },
      { label: 'held back', isNumber: true },
      { label: 'rejected', isNumber: true },
    ],
    rows: runs.map((run) => [
      html`<a href="${href(`/runs/${run.id}`)}">${run.id}</a>`,
      run.resource,
      run.mode,
      html`${stateMark(run.state)}${run.error_code !== null && html`<br><small>${run.error_code}</small>`}`,
      momentOf(run.started_at),
      tookOf(run.duration_seconds),
      formatCount(run.requests),
      formatCount(run.records),
      formatCount(run.rows_inserted),
      formatCount(run.rows_updated),
      formatCount(run.rows_deleted),
      formatCount(run.deletes_held_back),
      formatCount(run.rows_rejected),
    ]),
  });
}
