// What the mirror holds: its tables and their growth, how current they are, where the program differs from its
// contract, what could not be stored, and what was exported.

import { DELTA_BLIND_SPOTS } from '../../contract/delta-blind-spots.ts';
import { formatBytes, formatCount } from '../../contract/format.ts';
import { type KeptGrowth, readKeptGrowth } from '../../reports/kept-growth.ts';
import type { Growth } from '../../reports/read-growth.ts';
import {
  readExports,
  readFreshnessLines,
  readRejections,
  readSchemaDrift,
  readTables,
} from '../../reports/read-tables.ts';
import { asOf, momentOrNothing, orNothing } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { Page, PageDeps, PageRequest } from '../page.ts';
import { section } from '../section.ts';
import { table } from '../table.ts';
import { durationOf, momentOf } from '../words.ts';
import { showGrowth } from './growth.ts';
import { DRIFT_WORDS } from './run-findings.ts';

export const dataPage: Page = {
  path: '/data',
  label: 'Data',
  async read(deps, request) {
    const kept = await readKeptGrowth(deps);
    return {
      title: 'Data',
      body: html`<h1>Data</h1>
${await tablesSection(deps)}
${showGrowth(kept)}
${await coverageSection(deps, request)}
${await driftSection(deps, request)}
${await rejectedSection(deps, request, kept)}
${await exportsSection(deps)}`,
    };
  },
};

async function tablesSection(deps: PageDeps): Promise<Html> {
  const { rows, sql, asOf: moment } = await readTables(deps);
  return section({
    id: 'tables',
    title: 'Tables',
    sql,
    body: html`${table({
      caption: 'Tables of the mirror',
      columns: [
        { label: 'table' },
        { label: 'rows', isNumber: true },
        { label: 'marked deleted', isNumber: true },
        { label: 'new within a day', isNumber: true },
        { label: 'new within 7 days', isNumber: true },
        { label: 'on disk', isNumber: true },
        { label: 'last change' },
      ],
      rows: rows.map((one) => [
        one.table_name,
        formatCount(one.rows),
        formatCount(one.deleted),
        formatCount(one.new_in_a_day),
        formatCount(one.new_in_a_week),
        formatBytes(one.bytes),
        momentOrNothing(one.last_changed_at),
      ]),
    })}
<p class="quiet">New: seen here for the first time, whenever the program made it. On disk: with indexes, without the history.</p>
${asOf(moment)}`,
  });
}

async function coverageSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  const { rows, sql } = await readFreshnessLines(deps);
  const ago = (seconds: number | null) => (seconds === null ? 'never' : `${durationOf(seconds)} ago`);
  return section({
    id: 'coverage',
    title: 'What is covered, and what a delta does not see',
    sql,
    body: html`${table({
      caption: 'As of when each resource was read',
      columns: [
        { label: 'resource' },
        { label: 'everything read as of' },
        { label: 'changes read as of' },
        { label: 'last run' },
        { label: 'what may be missing' },
      ],
      rows: rows.map((one) => [
        one.resource,
        ago(one.everything_age_seconds),
        ago(one.changes_age_seconds),
        one.last_run_id === null
          ? orNothing(null)
          : html`<a href="${href(`/runs/${one.last_run_id}`)}">${one.last_run_id}</a>`,
        one.not_covered ?? 'nothing',
      ]),
    })}
<p>A delta does not see, until the next full sync does:</p>
<ul>${DELTA_BLIND_SPOTS.map((spot) => html`<li>${spot}</li>\n`)}</ul>`,
  });
}

async function driftSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  const { rows, sql } = await readSchemaDrift(deps);
  return section({
    id: 'drift',
    title: 'Where the program differs from its contract',
    sql,
    body:
      rows.length === 0
        ? html`<p>No field differs, as far as the last syncs saw.</p>`
        : table({
            caption: 'Differences from the contract, as the last syncs saw them',
            columns: [
              { label: 'resource' },
              { label: 'field' },
              { label: 'what' },
              { label: 'found' },
              { label: 'records', isNumber: true },
              { label: 'run' },
            ],
            rows: rows.map(({ resource, field, kind, found, occurrences, run_id }) => [
              resource,
              html`<code>${field}</code>`,
              DRIFT_WORDS[kind],
              orNothing(found),
              formatCount(occurrences),
              html`<a href="${href(`/runs/${run_id}#drift`)}">${run_id}</a>`,
            ]),
          }),
  });
}

async function rejectedSection(deps: PageDeps, { href }: PageRequest, { growth }: KeptGrowth): Promise<Html> {
  const { rows, sql, asOf: moment } = await readRejections(deps);
  return section({
    id: 'rejected',
    title: 'Rejected records',
    sql,
    body:
      rows.length === 0
        ? sayNoneRejected(growth)
        : html`${table({
            caption: 'Records that could not be stored, by resource',
            columns: [
              { label: 'resource' },
              { label: 'rejections', isNumber: true },
              { label: 'different records', isNumber: true },
              { label: 'the last read at' },
              { label: 'last run' },
            ],
            rows: rows.map((one) => [
              one.resource,
              formatCount(one.rejections),
              formatCount(one.records),
              momentOf(one.last_observed_at),
              one.last_run_id === null
                ? 'outside a run'
                : html`<a href="${href(`/runs/${one.last_run_id}#rejected`)}">${one.last_run_id}</a>`,
            ]),
          })}
<p class="quiet">Each run counts its own: a record that stays as it is is rejected anew by each. Those without an identifier are not among the different ones.</p>
${asOf(moment)}`,
  });
}

function sayNoneRejected({ tables }: Growth): Html {
  const gone = tables.find(({ table_name }) => table_name === 'rejected_records')?.pruned_before ?? null;
  return gone === null
    ? html`<p>None: every record that was read could be stored.</p>`
    : html`<p>None is kept. Those from before ${momentOf(gone)} were deleted by age.</p>`;
}

async function exportsSection(deps: PageDeps): Promise<Html> {
  const { rows, sql } = await readExports(deps);
  return section({
    id: 'exports',
    title: 'Exports',
    sql,
    body:
      rows.length === 0
        ? html`<p>Nothing was exported by a schedule, or incrementally.</p>`
        : table({
            caption: 'The last export of each table or view to each target',
            columns: [
              { label: 'table or view' },
              { label: 'target' },
              { label: 'what' },
              { label: 'rows', isNumber: true },
              { label: 'changes up to' },
              { label: 'exported' },
            ],
            rows: rows.map((one) => [
              one.object,
              one.target,
              one.kind === 'whole' ? 'every row' : 'changes',
              formatCount(one.rows),
              momentOrNothing(one.watermark),
              momentOf(one.exported_at),
            ]),
          }),
  });
}
