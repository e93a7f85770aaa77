// How finished runs look to people: a table, and what to worry about. (For programs: documents/sync.ts.)

import { formatCount, formatDuration } from '../../contract/format.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import { type Cell, renderTable } from '../output/render-table.ts';

type Line = readonly [label: string, cell: (run: RunSummary) => Cell];

/** The plan of a delta, beside what it came to. */
const PLAN_LINES: readonly Line[] = [
  ['to read (plan)', ({ plan }) => plan && (plan.strategy === 'full' ? 'everything' : 'what changed')],
  ['affiliates moved', ({ plan }) => (plan && 'moved_affiliates' in plan ? plan.moved_affiliates : null)],
  ['commissions moved', ({ plan }) => (plan && 'moved_commissions' in plan ? plan.moved_commissions : null)],
  ['requests expected', ({ plan }) => plan?.expected_requests ?? null],
  ['if all were read', ({ plan }) => plan?.full_walk_requests ?? null],
];

/** What is shown of a run, in the order of the table's lines. */
const LINES: readonly Line[] = [
  ['state', (run) => run.state],
  // Each once: what was read again is a line of its own.
  ['records read', (run) => run.rows_seen - run.rows_repeated],
  ['inserted', (run) => run.rows_inserted],
  ['updated', (run) => run.rows_updated],
  ['unchanged', (run) => run.rows_unchanged],
  ['rejected', (run) => run.rows_rejected],
  ['read again', (run) => run.rows_repeated],
  ['marked deleted', (run) => run.rows_deleted],
  ['held back', (run) => run.deletes_held_back],
  ['program has', (run) => run.total_upstream],
  ['verified', (run) => run.verified],
  ['requests', (run) => run.requests],
  ...PLAN_LINES,
  ['time', (run) => formatDuration(run.duration_ms)],
];

/** Returns the runs as a table, a column for each: narrow enough for any terminal. */
export function renderRuns(runs: readonly RunSummary[]): string {
  return renderTable(
    ['', ...runs.map((run) => run.resource)],
    LINES.filter((line) => !PLAN_LINES.includes(line) || runs.some(({ plan }) => plan !== null)).map(
      ([label, cell]) => [label, ...runs.map(cell)],
    ),
  );
}

/** Returns whether somebody should look at what a finished run read. */
export function isDoubtful(run: RunSummary): boolean {
  return run.state === 'partial' || run.rows_rejected > 0;
}

/** Returns what is wrong with a run and how to go on, a sentence each; empty where nothing is. */
export function describeConcerns(run: RunSummary): string[] {
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
        : ` (${formatCount(run.distinct_seen)} records seen, the program says ${formatCount(run.total_upstream)})`;
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
