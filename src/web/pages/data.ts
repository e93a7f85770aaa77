// What the mirror holds: its tables and their growth, how current they are, where the program differs from its
// contract, what could not be stored, and what was exported.

import { DELTA_BLIND_SPOTS } from '../../contract/delta-blind-spots.ts';
import { formatBytes, formatCount } from '../../contract/format.ts';
import { readDrift } from '../../reports/read-drift.ts';
import { readResourceCoverage } from '../../reports/read-freshness.ts';
import { type Growth, readMemoizedGrowth } from '../../reports/read-growth.ts';
import { readExports, readRejections, readTables } from '../../reports/read-tables.ts';
import { momentOrNothing, orNothing } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { Page, PageDeps, PageRequest } from '../page.ts';
import { tableSection } from '../section.ts';
import { column, numbers } from '../table.ts';
import { durationOf, momentOf } from '../words.ts';
import { showGrowth } from './growth.ts';
import { DRIFT_COLUMNS } from './run-findings.ts';

export const dataPage: Page = {
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

async function tablesSection(deps: PageDeps): Promise<Html> {
  return tableSection(
    await readTables(deps),
    {
      id: 'tables',
      title: 'Tables',
      caption: 'Tables of the mirror',
      note: html`<p class="quiet">New: seen here for the first time, whenever the program made it. On disk: with indexes, without the history.</p>`,
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

async function coverageSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  const ago = (seconds: number | null) => (seconds === null ? 'never' : `${durationOf(seconds)} ago`);
  return tableSection(
    await readResourceCoverage(deps),
    {
      id: 'coverage',
      title: 'What is covered, and what a delta does not see',
      caption: 'As of when each resource was read',
      note: html`<p>A delta does not see, until the next full sync does:</p>
<ul>${DELTA_BLIND_SPOTS.map((spot) => html`<li>${spot}</li>\n`)}</ul>`,
    },
    [
      column('resource', ({ resource }) => resource),
      column('everything read as of', ({ everything_age_seconds }) => ago(everything_age_seconds)),
      column('changes read as of', ({ changes_age_seconds }) => ago(changes_age_seconds)),
      column('last run', ({ last_run_id: id }) =>
        id === null ? orNothing(null) : html`<a href="${href(`/runs/${id}`)}">${id}</a>`,
      ),
      column('what may be missing', ({ not_covered }) => not_covered ?? 'nothing'),
    ],
  );
}

async function driftSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  return tableSection(
    await readDrift(deps),
    {
      id: 'drift',
      title: 'Where the program differs from its contract',
      caption: 'Differences from the contract, as the last syncs saw them',
      none: html`<p>No field differs, as far as the last syncs saw.</p>`,
    },
    [
      column('resource', ({ resource }) => resource),
      ...DRIFT_COLUMNS,
      column('run', ({ run_id }) => html`<a href="${href(`/runs/${run_id}#drift`)}">${run_id}</a>`),
    ],
  );
}

async function rejectedSection(deps: PageDeps, { href }: PageRequest, growth: Growth): Promise<Html> {
  return tableSection(
    await readRejections(deps),
    {
      id: 'rejected',
      title: 'Rejected records',
      caption: 'Records that could not be stored, by resource',
      none: sayNoneRejected(growth),
      note: html`<p class="quiet">Each run counts its own: a record that stays as it is is rejected anew by each. Those without an identifier are not among the different ones.</p>`,
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
    : html`<p>None is kept. Those from before ${momentOf(gone)} were deleted by age.</p>`;
}

async function exportsSection(deps: PageDeps): Promise<Html> {
  return tableSection(
    await readExports(deps),
    {
      id: 'exports',
      title: 'Exports',
      caption: 'The last export of each table or view to each target',
      none: html`<p>Nothing was exported by a schedule, or incrementally.</p>`,
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
