// The mirror's data: tables and their growth, coverage, differences from the contract, rejected records, exports.

import { DELTA_BLIND_SPOTS } from '../../contract/delta-blind-spots.ts';
import { formatBytes, formatCount } from '../../contract/format.ts';
import { describeDisk, describeKept, describeRate } from '../../reports/growth-words.ts';
import { DAYS_PER_YEAR } from '../../reports/measure-tables.ts';
import { readResourceCoverage } from '../../reports/read-freshness.ts';
import { type Growth, readMemoizedGrowth, type ShownGrowth } from '../../reports/read-growth.ts';
import { readDrift } from '../../reports/read-status.ts';
import { readExports, readRejections, readTables } from '../../reports/read-tables.ts';
import { durationOf, momentOf, momentOrNothing, orNothing } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { section, tableSection } from '../section.ts';
import { column, numbers, table } from '../table.ts';
import type { View, ViewDeps, ViewRequest } from '../view.ts';
import { DRIFT_COLUMNS } from './run-findings.ts';

export const dataView: View = {
  path: '/data',
  label: 'Data',
  async read(deps, request) {
    const shown = await readMemoizedGrowth(deps);
    return {
      title: 'Data',
      body: html`<h1>Data</h1>
${await tablesSection(deps)}
${showGrowth(shown)}
${await coverageSection(deps, request)}
${await driftSection(deps, request)}
${await rejectedSection(deps, request, shown.growth)}
${await exportsSection(deps)}`,
    };
  },
};

async function tablesSection(deps: ViewDeps): Promise<Html> {
  return tableSection(
    await readTables(deps),
    {
      id: 'tables',
      title: 'Tables',
      caption: 'Tables of the mirror',
      note: html`<p class="quiet">New: first seen by the mirror, regardless of its creation time. On disk: with indexes, without the history.</p>`,
    },
    [
      column('table', ({ table_name }) => table_name),
      numbers('rows', ({ rows }) => formatCount(rows)),
      numbers('marked deleted', ({ deleted }) => formatCount(deleted)),
      numbers('new within a day', ({ new_in_a_day }) => formatCount(new_in_a_day)),
      numbers('new within 7 days', ({ new_in_a_week }) => formatCount(new_in_a_week)),
      numbers('on disk', ({ bytes }) => formatBytes(bytes)),
      column('last change', ({ last_changed_at }) => momentOrNothing(last_changed_at)),
    ],
  );
}

async function coverageSection(deps: ViewDeps, { href }: ViewRequest): Promise<Html> {
  const ago = (seconds: number | null) => (seconds === null ? 'never' : `${durationOf(seconds)} ago`);
  return tableSection(
    await readResourceCoverage(deps),
    {
      id: 'coverage',
      title: 'Coverage',
      caption: 'As of when each resource was read',
      note: html`<p>A delta cannot see these; the next full sync does:</p>
<ul>${DELTA_BLIND_SPOTS.map((spot) => html`<li>${spot}</li>\n`)}</ul>`,
    },
    [
      column('resource', ({ resource }) => resource),
      column('everything read as of', ({ everything_age_seconds }) => ago(everything_age_seconds)),
      column('changes read as of', ({ changes_age_seconds }) => ago(changes_age_seconds)),
      column('last run', ({ last_run_id: id }) =>
        id === null ? orNothing(null) : html`<a href="${href(`/runs/${id}`)}">${id}</a>`,
      ),
      column('may be missing', ({ not_covered }) => not_covered ?? 'nothing'),
    ],
  );
}

async function driftSection(deps: ViewDeps, { href }: ViewRequest): Promise<Html> {
  return tableSection(
    await readDrift(deps),
    {
      id: 'drift',
      title: 'Differences from the contract',
      caption: 'Differences from the contract, as the last syncs saw them',
      none: html`<p>The last syncs found none.</p>`,
    },
    [
      column('resource', ({ resource }) => resource),
      ...DRIFT_COLUMNS,
      column('run', ({ run_id }) => html`<a href="${href(`/runs/${run_id}#drift`)}">${run_id}</a>`),
    ],
  );
}

async function rejectedSection(deps: ViewDeps, { href }: ViewRequest, growth: Growth): Promise<Html> {
  return tableSection(
    await readRejections(deps),
    {
      id: 'rejected',
      title: 'Rejected records',
      caption: 'Records that could not be stored, by resource',
      none: sayNoneRejected(growth),
      note: html`<p class="quiet">Each run counts its own: an unchanged record is rejected again by each run. Records without an identifier are not among the different ones.</p>`,
    },
    [
      column('resource', ({ resource }) => resource),
      numbers('rejections', ({ rejections }) => formatCount(rejections)),
      numbers('different records', ({ records }) => formatCount(records)),
      column('the last read at', ({ last_observed_at }) => momentOf(last_observed_at)),
      column('last run', ({ last_run_id: id }) =>
        id === null ? 'outside a run' : html`<a href="${href(`/runs/${id}#rejected`)}">${id}</a>`,
      ),
    ],
  );
}

function sayNoneRejected({ tables }: Growth): Html {
  const gone = tables.find(({ table_name }) => table_name === 'rejected_records')?.pruned_before ?? null;
  return gone === null
    ? html`<p>None: every record that was read could be stored.</p>`
    : html`<p>None. Rejections from before ${momentOf(gone)} were deleted by age.</p>`;
}

async function exportsSection(deps: ViewDeps): Promise<Html> {
  return tableSection(
    await readExports(deps),
    {
      id: 'exports',
      title: 'Exports',
      caption: 'The last export of each table or view to each target',
      none: html`<p>None by schedule, and none incremental.</p>`,
    },
    [
      column('table or view', ({ object }) => object),
      column('target', ({ target }) => target),
      column('what', ({ kind }) => (kind === 'whole' ? 'every row' : 'changes')),
      numbers('rows', ({ rows }) => formatCount(rows)),
      column('changes up to', ({ watermark }) => momentOrNothing(watermark)),
      column('exported', ({ exported_at }) => momentOf(exported_at)),
    ],
  );
}

function showGrowth({ growth, ...figure }: ShownGrowth): Html {
  return section({
    id: 'growth',
    title: 'Size and growth',
    figure,
    body: html`<p>${describeRate(growth)}.</p>
<p>${describeDisk(growth)}.</p>
${table('Size and growth of each table', growth.tables, [
  column('table', ({ table_name }) => table_name),
  numbers('rows', ({ rows }) => formatCount(rows)),
  numbers('without indexes', ({ bytes, index_bytes }) => formatBytes(bytes - index_bytes)),
  numbers('indexes', ({ index_bytes }) => formatBytes(index_bytes)),
  numbers('on disk', ({ bytes }) => formatBytes(bytes)),
  numbers('rows a year', ({ rows_per_day: perDay }) =>
    orNothing(perDay === null ? null : formatCount(Math.round(perDay * DAYS_PER_YEAR))),
  ),
  numbers('gains a year', ({ bytes_per_year: perYear }) =>
    orNothing(perYear === null ? null : formatBytes(perYear)),
  ),
  column('kept', describeKept),
])}
<p class="quiet">At the rate of the last 30 days, without the first load. Pruned rows count among the rows of a year, and not in the gain. Rows and rates of a large table are estimated from a sample.</p>`,
  });
}
