// The findings of a run: differences from the contract, rejected records, deletions held back.

import { counted, formatCount } from '../../contract/format.ts';
import type { Figure } from '../../reports/figure.ts';
import { type NamedHeldBack, readHeldBackOfRun } from '../../reports/read-held-back.ts';
import { type RejectedRecord, type RunDetails, type RunDrift, readRejected } from '../../reports/read-run.ts';
import { command, momentOf, momentOrNothing, orNothing } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { pager } from '../pager.ts';
import { readId, readText } from '../query.ts';
import { section, tableSection } from '../section.ts';
import { type Column, column, numbers, table } from '../table.ts';
import type { ViewDeps, ViewRequest } from '../view.ts';

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

export async function rejectedSection(deps: ViewDeps, request: ViewRequest, run: RunDetails): Promise<Html> {
  const { query, mayReadPeople } = request;
  const after = readId(query['rejected_after']);
  const figure = await readRejected(deps, run, { after, isFull: mayReadPeople });
  const { rows, next } = figure;
  const reason = mayReadPeople
    ? column<RejectedRecord>(
        'reason and payload',
        (rejected) =>
          html`${rejected.reason ?? ''}<details><summary>Payload</summary><pre class="payload"><code>${rejected.payload ?? ''}</code></pre></details>`,
      )
    : column<RejectedRecord>('first invalid field, or refusal', ({ cause }) => orNothing(cause));
  return section({
    id: 'rejected',
    title: 'Rejected records',
    figure,
    body: html`${
      rows.length === 0
        ? html`<p>${sayNoneRejected(run, after)}</p>`
        : html`<p>These records could not be stored. Each keeps its last good row, if it had one, and is never marked deleted.${
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
${pager(request, {
  ...{ label: 'rejected records', path: `/runs/${run.id}`, cursor: 'rejected_after', at: after, next },
  anchor: '#rejected',
  more: 'More',
})}`,
  });
}

function sayNoneRejected({ rows_rejected, rows_seen, state }: RunDetails, after: number | null): string {
  if (after !== null) return 'No more.';
  if (rows_seen === 0) return 'None: it stored no record.';
  const endedShort = state === 'failed' || state === 'interrupted';
  if (rows_rejected === 0 && endedShort) return 'None of those that it loaded before it ended.';
  return rows_rejected === 0
    ? 'None: every record that it read could be stored.'
    : `${counted(rows_rejected, 'record')} could not be stored. Their payloads were deleted by age.`;
}

export async function heldBackSection(deps: ViewDeps, request: ViewRequest, run: RunDetails): Promise<Html> {
  const { query, mayReadPeople } = request;
  const after = readText(query['held_after']);
  const figure = await readHeldBackOfRun(deps, run, { after, isFull: mayReadPeople });
  const { rows, next } = figure;
  return section({
    id: 'held-back',
    title: 'Deletions held back',
    figure,
    body: html`${
      rows.length === 0
        ? html`<p>${after !== null ? 'No more.' : run.deletes_held_back === 0 ? 'None.' : 'None is left: a later run found them again, or marked them deleted.'}</p>`
        : html`<p>The API seems to have these records no longer, and they are not marked deleted. To accept them, run ${command(request, `deletions list ${run.resource}`)}.</p>
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
${pager(request, {
  ...{ label: 'deletions held back', path: `/runs/${run.id}`, cursor: 'held_after', at: after, next },
  anchor: '#held-back',
  more: 'More',
})}`,
  });
}
