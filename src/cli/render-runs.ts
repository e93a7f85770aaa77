// How finished runs look: a table for people, the column names of the run log in JSON, and what to worry about.

import type { RunSummary } from '../sync/run-summary.ts';
import { formatCount, formatDuration } from './format.ts';
import { type Cell, renderTable } from './render-table.ts';

type Line = readonly [label: string, cell: (run: RunSummary) => Cell];

/** The plan of a delta, beside what it came to. */
const PLAN_LINES: readonly Line[] = [
  ['to read (plan)', ({ plan }) => plan && (plan.strategy === 'full' ? 'everything' : 'what changed')],
  ['affiliates moved', ({ plan }) => plan?.moved_affiliates ?? null],
  ['requests expected', ({ plan }) => plan?.expected_requests ?? null],
  ['if all were read', ({ plan }) => plan?.full_walk_requests ?? null],
];

/** What is shown of a run, in the order of the table's lines. */
const LINES: readonly Line[] = [
  ['state', (run) => run.state],
  ['records read', (run) => run.rows.seen],
  ['inserted', (run) => run.rows.inserted],
  ['updated', (run) => run.rows.updated],
  ['unchanged', (run) => run.rows.unchanged],
  ['rejected', (run) => run.rows.rejected],
  ['read again', (run) => run.rows.repeated],
  ['marked deleted', (run) => run.deleted],
  ['program has', (run) => run.total],
  ['verified', (run) => run.verified],
  ['requests', (run) => run.requests],
  ...PLAN_LINES,
  ['time', (run) => formatDuration(run.durationMs)],
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

/** Returns a run under the names of the ledger's columns (sync_runs). */
export function runAsJson(run: RunSummary): Record<string, unknown> {
  return {
    id: run.runId,
    resource: run.resource,
    mode: run.mode,
    state: run.state,
    reason: run.reason,
    requests: run.requests,
    pages: run.pages,
    rows_seen: run.rows.seen,
    rows_inserted: run.rows.inserted,
    rows_updated: run.rows.updated,
    rows_unchanged: run.rows.unchanged,
    rows_rejected: run.rows.rejected,
    rows_repeated: run.rows.repeated,
    rows_deleted: run.deleted,
    deletes_held_back: run.deletesHeldBack,
    total_upstream: run.total,
    distinct_seen: run.distinct,
    verified: run.verified,
    plan: run.plan,
    duration_ms: run.durationMs,
  };
}

/** Returns what is wrong with a run and how to go on, a sentence each; empty where nothing is. */
export function describeConcerns(run: RunSummary): string[] {
  const concerns: string[] = [];
  if (run.state === 'skipped') {
    concerns.push(`${run.resource}: not synced: ${run.reason ?? 'another process is at it'}`);
  }
  if (run.state === 'partial') {
    const counts =
      run.total === null
        ? ''
        : ` (${formatCount(run.distinct)} records seen, the program says ${formatCount(run.total)})`;
    concerns.push(
      `${run.resource}: ${run.reason ?? 'unverified'}${counts}; nothing was marked deleted: sync again`,
    );
  }
  if (run.rows.rejected > 0) {
    concerns.push(
      `${run.resource}: ${formatCount(run.rows.rejected)} rejected: the reasons stand in the table rejected_records ` +
        `(run ${run.runId})`,
    );
  }
  if (run.deletesHeldBack > 0) {
    concerns.push(
      `${run.resource}: ${formatCount(run.deletesHeldBack)} deletions held back, too many to be believed: if they are ` +
        'real, sync again with --accept-deletes',
    );
  }
  return concerns;
}
