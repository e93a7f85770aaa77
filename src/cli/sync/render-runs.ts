// Finished runs for people: a table, and the concerns.

import { counted, formatCount, formatDuration } from '../../contract/format.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import { type Cell, renderTable } from '../output/render-table.ts';

type Line = readonly [label: string, cell: (run: RunSummary) => Cell];

const LINES: readonly Line[] = [
  ['state', (run) => run.state],
  // Each record once: those read again are a line of their own.
  ['records read', (run) => run.rows_seen - run.rows_repeated],
  ['inserted', (run) => run.rows_inserted],
  ['updated', (run) => run.rows_updated],
  ['unchanged', (run) => run.rows_unchanged],
  ['rejected', (run) => run.rows_rejected],
  ['read again', (run) => run.rows_repeated],
  ['marked deleted', (run) => run.rows_deleted],
  ['held back', (run) => run.deletes_held_back],
  ['API has', (run) => run.total_upstream],
  ['verified', (run) => run.verified],
  ['requests', (run) => run.requests],
  ['time', (run) => formatDuration(run.duration_ms)],
];

/** Returns the runs as a table with a column for each, for narrow terminals. */
export function renderRuns(runs: readonly RunSummary[]): string {
  return renderTable(
    ['', ...runs.map((run) => run.resource)],
    LINES.map(([label, cell]) => [label, ...runs.map(cell)]),
  );
}

/** Returns the run in a line. */
export function describeRun(run: RunSummary): string {
  const { resource, state, distinct_seen, duration_ms } = run;
  const changes = [
    { rows: run.rows_inserted, what: 'new' },
    { rows: run.rows_updated, what: 'changed' },
    { rows: run.rows_deleted, what: 'deleted' },
  ].flatMap(({ rows, what }) => (rows === 0 ? [] : [`${formatCount(rows)} ${what}`]));
  const found = changes.length === 0 ? 'nothing new' : changes.join(', ');
  const end = state === 'succeeded' ? '' : ` (${state})`;
  return `${resource}: ${counted(distinct_seen, 'record')} in ${formatDuration(duration_ms)}, ${found}${end}`;
}

/** Returns whether a person should look at the run. */
export function isDoubtful(run: RunSummary): boolean {
  return run.state === 'partial' || run.rows_rejected > 0;
}

/** Returns a sentence for each problem of a run, with how to go on. */
export function describeDoubts(run: RunSummary): string[] {
  const concerns: string[] = [];
  if (run.state === 'skipped') {
    concerns.push(`${run.resource}: not synced: ${run.reason ?? 'another process is at it'}`);
  }
  if (run.state === 'partial' && run.verified) {
    concerns.push(`${run.resource}: ${run.reason ?? 'deletions held back'}`);
  }
  if (run.state === 'partial' && !run.verified) {
    const counts =
      run.total_upstream === null
        ? ''
        : ` (${formatCount(run.distinct_seen)} records seen, the API says ${formatCount(run.total_upstream)})`;
    concerns.push(
      `${run.resource}: ${run.reason ?? 'unverified'}${counts}; nothing was marked deleted: sync again`,
    );
  }
  if (run.rows_rejected > 0) {
    concerns.push(
      `${run.resource}: ${formatCount(run.rows_rejected)} rejected: the reasons are in the table rejected_records ` +
        `(run ${run.id})`,
    );
  }
  return concerns;
}
