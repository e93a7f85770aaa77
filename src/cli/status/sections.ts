// How the status looks to people: what is wrong, how fresh each resource is, and the rest by section.

import { POLL_SCHEDULE } from '../../commissions/tracking/poll-schedule.ts';
import { describeBlindSpots } from '../../contract/delta-blind-spots.ts';
import { counted, countedAre, formatCount, formatDuration, formatTimestamp } from '../../contract/format.ts';
import type { Concern } from '../../reports/find-concerns.ts';
import type { ResourceStatus } from '../../reports/read-freshness.ts';
import type { Growth } from '../../reports/read-growth.ts';
import type { MirrorStatus } from '../../reports/read-status.ts';
import { describeCounts } from '../commissions/listings.ts';
import { renderColumns, renderTable } from '../output/render-table.ts';
import { describeList, describeLists } from './optional-list-lines.ts';
import { renderGrowth } from './render-growth.ts';

/** What the sections show. */
export type StatusFigures = MirrorStatus & { readonly growth: Growth };

/** By name, as the command's argument: what each section shows. */
export const SECTIONS: Readonly<Record<string, (figures: StatusFigures) => string>> = {
  runs: renderLastRuns,
  rows: (status) => `${renderRows(status)}\n\n${renderLists(status)}\n\n${renderTracked(status)}`,
  budget: renderBudget,
  drift: (status) => `${renderBlindSpots(status)}\n\n${renderDrift(status)}`,
  payments: renderPayments,
  growth: ({ growth }) => renderGrowth(growth),
};

/** Returns a line for each concern; one line where there is none. */
export function renderConcerns(concerns: readonly Concern[]): string {
  if (concerns.length === 0) return 'All is well.';
  return concerns
    .map(({ what, since, fix }) => {
      const when = since === null ? '' : ` (since ${formatTimestamp(since)})`;
      return `Not well: ${what}${when}. Run: ${fix}`;
    })
    .join('\n');
}

/** Returns how fresh each resource is. */
export function renderFreshness({ resources, optional_lists }: MirrorStatus): string {
  const table = renderTable(
    ['resource', 'fresh as of', 'age', 'last run', 'all read'],
    resources.map((resource) => [
      resource.resource,
      resource.changes_as_of === null ? 'never synced' : formatTimestamp(resource.changes_as_of),
      ago(resource.changes_age_seconds),
      resource.last_run_state,
      resource.everything_age_seconds === null ? 'never' : `${ago(resource.everything_age_seconds)} ago`,
    ]),
  );
  const accepted = resources.filter(({ deletions_accepted }) => deletions_accepted > 0).map(describeAccepted);
  const unused = optional_lists
    .filter(({ is_used }) => !is_used)
    .map((list) => `${list.resource}: ${describeList(list)}`);
  return [table, ...unused, ...accepted].join('\n');
}

function ago(seconds: number | null): string | null {
  return seconds === null ? null : formatDuration(seconds * 1000);
}

function describeAccepted({ resource, deletions_accepted }: ResourceStatus): string {
  return (
    `${resource}: ${countedAre(deletions_accepted, 'deletion')} held back and accepted: the next full sync marks ` +
    'those that are still missing'
  );
}

function renderBlindSpots({ resources }: MirrorStatus): string {
  const table = renderTable(
    ['resource', 'everything read as of', 'age', 'deltas since'],
    resources.map((resource) => [
      resource.resource,
      resource.everything_as_of === null ? 'never' : formatTimestamp(resource.everything_as_of),
      ago(resource.everything_age_seconds),
      resource.deltas_since_everything,
    ]),
  );
  return `Blind spots\n${table}\n${describeBlindSpots()}`;
}

function renderDrift({ schema_drift, resources }: MirrorStatus): string {
  const title = 'Where the program differs from its contract';
  const rejected = resources
    .filter(({ rejected_records }) => rejected_records > 0)
    .map(({ resource, rejected_records }) => `${resource}: ${counted(rejected_records, 'record')} rejected`);
  if (rejected.length > 0) rejected.push('each with its reason: the table rejected_records');
  if (schema_drift.length === 0) {
    return [title, 'no field differs, as far as the last syncs saw', ...rejected].join('\n');
  }
  const table = renderColumns(schema_drift, {
    run: ({ run_id }) => String(run_id),
    resource: ({ resource }) => resource,
    field: ({ field }) => field,
    what: ({ kind }) => kind,
    found: ({ found }) => found,
    records: ({ occurrences }) => occurrences,
  });
  return [title, table, ...rejected].join('\n');
}

function renderRows({ tables }: MirrorStatus): string {
  return `Rows\n${renderTable(
    ['table', 'rows', 'deleted upstream'],
    tables.map((table) => [table.table_name, table.rows, table.deleted]),
  )}`;
}

function renderTracked({ tracked_commissions, optional_lists }: MirrorStatus): string {
  const { tracked, due, unanswered, gone, next_poll_at } = tracked_commissions;
  const isListed = optional_lists.some(({ resource, is_used }) => resource === 'commissions' && is_used);
  const lines = isListed
    ? [`the known ones (${formatCount(tracked)}) are not asked for one by one`]
    : tracked + gone === 0
      ? ['none tracked yet (affiliate-mirror commissions track --help)']
      : [
          `${formatCount(tracked)} are asked for again and again by a worker (${formatCount(due)} due now, ${formatCount(unanswered)} not answered last time), ${formatCount(gone)} are gone`,
          ...(next_poll_at === null ? [] : [`next turn: ${formatTimestamp(next_poll_at)}`]),
          ...POLL_SCHEDULE.map((line) => `  - ${line}`),
        ];
  return ['Known commissions', ...lines].join('\n');
}

function renderLists({ optional_lists, commission_differences }: MirrorStatus): string {
  return ['Lists beyond the contract', ...describeLists(optional_lists, commission_differences)].join('\n');
}

function renderLastRuns({ last_runs }: MirrorStatus): string {
  if (last_runs.length === 0) return 'Last runs\nnone yet: run affiliate-mirror sync';
  const table = renderColumns(last_runs, {
    run: ({ id }) => String(id),
    resource: ({ resource }) => resource,
    mode: ({ mode }) => mode,
    state: ({ state }) => state,
    started: ({ started_at }) => formatTimestamp(started_at),
    requests: ({ requests }) => requests,
    read: ({ rows_seen, rows_repeated }) => rows_seen - rows_repeated,
    again: ({ rows_repeated }) => rows_repeated,
    inserted: ({ rows_inserted }) => rows_inserted,
    updated: ({ rows_updated }) => rows_updated,
    deleted: ({ rows_deleted }) => rows_deleted,
    'held back': ({ deletes_held_back }) => deletes_held_back,
    rejected: ({ rows_rejected }) => rows_rejected,
  });
  const errors = last_runs
    .filter((run) => run.error !== null)
    .map(
      (run) =>
        `run ${run.id} ${run.state}: ${run.error}${run.error_code === null ? '' : ` (${run.error_code})`}`,
    );
  const isAgain = last_runs.some(({ rows_repeated }) => rows_repeated > 0);
  const again = isAgain
    ? ['what was read again, as the newest page of a list is at its end, is not counted in read']
    : [];
  return [`Last runs\n${table}`, ...again, ...errors].join('\n');
}

function renderBudget({ budget }: MirrorStatus): string {
  const lines = [
    `${counted(budget.used_requests, 'request')} ${budget.used_requests === 1 ? 'counts' : 'count'} against the limit now` +
      (budget.limit_requests === null ? '' : ` (the program names ${formatCount(budget.limit_requests)})`),
  ];
  if (budget.foreign_requests > 0) {
    lines.push(`${formatCount(budget.foreign_requests)} more were made by somebody else on the account`);
  }
  if (budget.paused_until !== null) {
    lines.push(`paused until ${formatTimestamp(budget.paused_until)}; it then goes on by itself`);
  }
  lines.push(
    budget.last_throttled_at === null
      ? 'the program never answered 429'
      : `the program last answered 429 at ${formatTimestamp(budget.last_throttled_at)}`,
  );
  return `Request budget\n${lines.join('\n')}`;
}

function renderPayments({ payments }: MirrorStatus): string {
  if (payments.states.length === 0) return 'Payments\nnothing was asked for yet';
  const states = renderTable(
    ['state', 'requests'],
    payments.states.map(({ state, requests }) => [state, requests]),
  );
  const batches = renderTable(
    ['last batches', 'asked at', 'states'],
    payments.last_batches.map(({ batch, requested_at, states: counts }) => [
      batch ?? '(single requests)',
      formatTimestamp(requested_at),
      describeCounts(counts),
    ]),
  );
  return `Payments\n${states}\n${batches}\none batch, row by row: affiliate-mirror commissions status BATCH`;
}
