// What a run noticed: differences from the contract, records that could not be stored, rows that it held back.

import { counted, formatCount } from '../../contract/format.ts';
import type { Figure } from '../../reports/figure.ts';
import { type NamedHeldBack, readHeldBackOfRun } from '../../reports/read-held-back.ts';
import { type RejectedRecord, type RunDetails, type RunDrift, readRejected } from '../../reports/read-run.ts';
import { momentOrNothing, orNothing } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { PageDeps, PageRequest } from '../page.ts';
import { pager } from '../pager.ts';
import { readId, readText, withQuery } from '../query.ts';
import { section, tableSection } from '../section.ts';
import { type Column, column, numbers, table } from '../table.ts';
import { momentOf } from '../words.ts';

/** Of schema_drift.kind. */
const DRIFT_WORDS: Readonly<Record<RunDrift['kind'], string>> = {
  appeared: 'a field that the contract does not know',
  vanished: 'a field of the contract that no record had',
  retyped: 'another type than the contract says',
};

export const DRIFT_COLUMNS: readonly Column<RunDrift>[] = [
  column('field', ({ field }) => html`<code>${field}</code>`),
  column('what', ({ kind }) => DRIFT_WORDS[kind]),
  column('found', ({ found }) => orNothing(found)),
  numbers('records', ({ occurrences }) => formatCount(occurrences)),
];

/** Returns the section of differences from the contract. */
export function driftSection(figure: Figure<RunDrift>): Html {
  return tableSection(
    figure,
    {
      id: 'drift',
      title: 'Differences from the contract',
      caption: 'Differences from the contract that the run noticed',
      none: html`<p>None was noticed.</p>`,
    },
    DRIFT_COLUMNS,
  );
}

/** Returns the section of the records that could not be stored. */
export async function rejectedSection(
  deps: PageDeps,
  { query, href, mayReadPeople }: PageRequest,
  run: RunDetails,
): Promise<Html> {
  const after = readId(query['rejected_after']);
  const figure = await readRejected(deps, run, { after, isFull: mayReadPeople });
  const { rows, next } = figure;
  const path = `/runs/${run.id}`;
  const reason = mayReadPeople
    ? column<RejectedRecord>(
        'reason, and what came',
        (rejected) =>
          html`${rejected.reason ?? ''}<details><summary>What came</summary><pre class="payload"><code>${rejected.payload ?? ''}</code></pre></details>`,
      )
    : column<RejectedRecord>('first field that is wrong', ({ field }) => orNothing(field));
  return section({
    id: 'rejected',
    title: 'Rejected records',
    figure,
    body: html`${
      rows.length === 0
        ? html`<p>${sayNoneRejected(run, after)}</p>`
        : html`<p>The program sent them otherwise than its contract says. Each keeps its last good row, if it had one, and is never marked deleted.${
            !mayReadPeople && ' Reasons and contents may hold personal data: they are not shown.'
          }</p>
${table('Records that the run could not store', rows, [
  column('rejection', ({ id }) => String(id)),
  column('record', ({ record_id: id }) =>
    id === null ? html`<span class="quiet">no usable identifier</span>` : html`<code>${id}</code>`,
  ),
  column('read at', ({ observed_at }) => momentOf(observed_at)),
  reason,
])}`
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
  const figure = await readHeldBackOfRun(deps, run, { after, isFull: mayReadPeople });
  const { rows, next } = figure;
  const path = `/runs/${run.id}`;
  return section({
    id: 'held-back',
    title: 'Deletions held back',
    figure,
    body: html`${
      rows.length === 0
        ? html`<p>${after !== null ? 'No more.' : run.deletes_held_back === 0 ? 'None.' : 'None is left: a later run found them again, or marked them deleted.'}</p>`
        : html`<p>The program seems to have these rows no longer, and they are not marked deleted. See them with <code class="run">affiliate-mirror deletions list ${run.resource}</code>, which says how to accept them.</p>
${table('Rows that the run held back', rows, [
  column('record', ({ record_id }) => html`<code>${record_id}</code>`),
  column('held back since', ({ held_back_at }) => momentOf(held_back_at)),
  column('accepted', ({ accepted_at }) => momentOrNothing(accepted_at)),
  ...(mayReadPeople
    ? [
        column<NamedHeldBack>('name', ({ name }) => orNothing(name ?? null)),
        column<NamedHeldBack>('accepted by', ({ accepted_by }) => orNothing(accepted_by ?? null)),
      ]
    : []),
])}`
    }
${pager({
  label: 'deletions held back',
  first: after === null ? null : href(`${path}#held-back`),
  next: next === null ? null : href(`${withQuery(path, { held_after: next })}#held-back`),
  more: 'More',
})}`,
  });
}
