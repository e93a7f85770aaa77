// What a run noticed: differences from the contract, records that could not be stored, rows that it held back.

import { counted, formatCount } from '../../contract/format.ts';
import {
  type RejectedRecord,
  type RunDetails,
  type RunDrift,
  readHeldBack,
  readRejected,
} from '../../reports/read-run.ts';
import type { Shown } from '../../reports/shown-query.ts';
import { momentOrNothing, orNothing } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { PageDeps, PageRequest } from '../page.ts';
import { pager } from '../pager.ts';
import { readId, readText, withQuery } from '../query.ts';
import { section } from '../section.ts';
import { table } from '../table.ts';
import { momentOf } from '../words.ts';

/** Of schema_drift.kind. */
export const DRIFT_WORDS: Readonly<Record<RunDrift['kind'], string>> = {
  appeared: 'a field that the contract does not know',
  vanished: 'a field of the contract that no record had',
  retyped: 'another type than the contract says',
};

/** Returns the section of differences from the contract. */
export function driftSection({ rows, sql }: Shown<RunDrift>): Html {
  return section({
    id: 'drift',
    title: 'Differences from the contract',
    sql,
    body:
      rows.length === 0
        ? html`<p>None was noticed.</p>`
        : table({
            caption: 'Differences from the contract that the run noticed',
            columns: [
              { label: 'field' },
              { label: 'what' },
              { label: 'found' },
              { label: 'records', isNumber: true },
            ],
            rows: rows.map(({ field, kind, found, occurrences }) => [
              html`<code>${field}</code>`,
              DRIFT_WORDS[kind],
              orNothing(found),
              formatCount(occurrences),
            ]),
          }),
  });
}

/** Returns the section of the records that could not be stored. */
export async function rejectedSection(
  deps: PageDeps,
  { query, href, mayReadPeople }: PageRequest,
  run: RunDetails,
): Promise<Html> {
  const after = readId(query['rejected_after']);
  const { rows, sql, next } = await readRejected(deps, run, { after, isFull: mayReadPeople });
  const path = `/runs/${run.id}`;
  const columns = [
    { label: 'rejection' },
    { label: 'record' },
    { label: 'read at' },
    mayReadPeople ? { label: 'reason, and what came' } : { label: 'first field that is wrong' },
  ];
  const describe = (rejected: RejectedRecord) =>
    mayReadPeople
      ? html`${rejected.reason ?? ''}<details><summary>What came</summary><pre class="payload"><code>${rejected.payload ?? ''}</code></pre></details>`
      : orNothing(rejected.field);
  return section({
    id: 'rejected',
    title: 'Rejected records',
    sql,
    body: html`${
      rows.length === 0
        ? html`<p>${sayNoneRejected(run, after)}</p>`
        : html`<p>The program sent them otherwise than its contract says. Each keeps its last good row, if it had one, and is never marked deleted.${
            !mayReadPeople && ' Reasons and contents may hold personal data: they are not shown.'
          }</p>
${table({
  caption: 'Records that the run could not store',
  columns,
  rows: rows.map((rejected) => [
    String(rejected.id),
    rejected.record_id === null
      ? html`<span class="quiet">no usable identifier</span>`
      : html`<code>${rejected.record_id}</code>`,
    momentOf(rejected.observed_at),
    describe(rejected),
  ]),
})}`
    }
${pager({
  label: 'rejected records',
  first: after === null ? null : href(`${path}#rejected`),
  next: next === null ? null : href(`${withQuery(path, { rejected_after: next })}#rejected`),
  more: 'More',
})}`,
  });
}

function sayNoneRejected({ rows_rejected }: RunDetails, after: number | null): string {
  if (after !== null) return 'No more.';
  return rows_rejected === 0
    ? 'None: every record that it read could be stored.'
    : `${counted(rows_rejected, 'record')} could not be stored. What came is no longer kept.`;
}

/** Returns the section of the rows that the run held back instead of marking them deleted. */
export async function heldBackSection(
  deps: PageDeps,
  { query, href, mayReadPeople }: PageRequest,
  run: RunDetails,
): Promise<Html> {
  const after = readText(query['held_after']);
  const { rows, sql, next } = await readHeldBack(deps, run, { after, isFull: mayReadPeople });
  const path = `/runs/${run.id}`;
  return section({
    id: 'held-back',
    title: 'Deletions held back',
    sql,
    body: html`${
      rows.length === 0
        ? html`<p>${after !== null ? 'No more.' : run.deletes_held_back === 0 ? 'None.' : 'None is left: a later run found them again, or marked them deleted.'}</p>`
        : html`<p>The program seems to have these rows no longer, and they are not marked deleted. See them with <code class="run">affiliate-mirror deletions list ${run.resource}</code>, which says how to accept them.</p>
${table({
  caption: 'Rows that the run held back',
  columns: [
    { label: 'record' },
    { label: 'held back since' },
    { label: 'accepted' },
    ...(mayReadPeople ? [{ label: 'name' }, { label: 'accepted by' }] : []),
  ],
  rows: rows.map((row) => [
    html`<code>${row.record_id}</code>`,
    momentOf(row.held_back_at),
    momentOrNothing(row.accepted_at),
    ...(mayReadPeople ? [orNothing(row.name ?? null), orNothing(row.accepted_by ?? null)] : []),
  ]),
})}`
    }
${pager({
  label: 'deletions held back',
  first: after === null ? null : href(`${path}#held-back`),
  next: next === null ? null : href(`${withQuery(path, { held_after: next })}#held-back`),
  more: 'More',
})}`,
  });
}
