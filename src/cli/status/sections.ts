// The status for people: the concerns, how fresh each resource is, and the sections.

import { describeBlindSpots } from '../../contract/delta-blind-spots.ts';
import {
  counted,
  countedAre,
  formatBytes,
  formatCount,
  formatDuration,
  formatTimestamp,
} from '../../contract/format.ts';
import { RESOURCES } from '../../contract/resources.ts';
import { isMild } from '../../reports/concern-advice.ts';
import type { Concern } from '../../reports/find-concerns.ts';
import { describeDisk, describeKept, describeRate } from '../../reports/growth-words.ts';
import { describeUnanswered, type ResourceStatus } from '../../reports/read-freshness.ts';
import type { Growth } from '../../reports/read-growth.ts';
import type { OptionalListStatus } from '../../reports/read-health.ts';
import type { MirrorStatus } from '../../reports/read-status.ts';
import { renderColumns, renderTable } from '../output/render-table.ts';
import { describeCounts } from '../payments/listings.ts';

export type StatusFigures = MirrorStatus & { readonly growth: Growth };

/** By the argument of the command. */
export const SECTIONS: Readonly<Record<string, (figures: StatusFigures) => string>> = {
  runs: renderLastRuns,
  rows: (status) => `${renderRows(status)}\n\n${renderTracked(status)}`,
  budget: renderBudget,
  drift: (status) => `Blind spots\n${describeBlindSpots()}\n\n${renderDrift(status)}`,
  payments: renderPayments,
  growth: ({ growth }) => renderGrowth(growth),
};

/** Returns two lines for each concern, or one line without any. */
export function renderConcerns(concerns: readonly Concern[]): string {
  if (concerns.length === 0) return 'All is well.';
  return concerns
    .map((concern) => {
      const { what, since, fix, if_it_stays } = concern;
      const when = since === null ? '' : ` (since ${formatTimestamp(since)})`;
      const verdict = isMild(concern) ? 'Not quite well' : 'Not well';
      return `${verdict}: ${what}${when}. Run: ${fix}\n  If it stays: ${if_it_stays}.`;
    })
    .join('\n');
}

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
  return [table, ...resources.flatMap(describeWait), ...unused, ...accepted].join('\n');
}

/** Returns whether the API has the list, and what a sync reads. */
export function describeList(list: OptionalListStatus): string {
  const { path, unlisted } = RESOURCES[list.resource];
  const follows = list.is_used ? 'a sync reads all of them' : unlisted;
  if (list.setting !== 'auto') {
    return `OPTIONAL_LISTS ${list.is_used ? 'names them' : 'leaves them out'}: ${follows}`;
  }
  if (list.is_served === null || list.found_at === null) {
    return `it is not known yet whether the API lists them (sync, doctor and a worker ask): ${follows}`;
  }
  const says = list.is_served ? 'the API lists them' : `the API does not list them (404 for GET ${path})`;
  return `${says}, asked at ${formatTimestamp(list.found_at)}: ${follows}`;
}

function ago(seconds: number | null): string | null {
  return seconds === null ? null : formatDuration(seconds * 1000);
}

function describeWait(one: ResourceStatus): string[] {
  const { resource, last_run_unanswered_seconds, last_run_unanswered_attempt } = one;
  const late = describeUnanswered(last_run_unanswered_seconds, last_run_unanswered_attempt);
  return late === null ? [] : [`${resource}: the running sync has ${late}`];
}

function describeAccepted({ resource, deletions_accepted }: ResourceStatus): string {
  return (
    `${resource}: ${countedAre(deletions_accepted, 'deletion')} held back and accepted: the next full sync marks ` +
    'those that are still missing'
  );
}

function renderDrift({ schema_drift, resources }: MirrorStatus): string {
  const title = 'Where the API differs from its contract';
  const rejected = resources
    .filter(({ rejected_records }) => rejected_records > 0)
    .map(({ resource, rejected_records }) => `${resource}: ${counted(rejected_records, 'record')} rejected`);
  if (rejected.length > 0)
    rejected.push(
      'each with its reason: the view of the run on the status page, and the table rejected_records',
    );
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
          `${formatCount(tracked)} are read on a schedule by a worker (${formatCount(due)} due now, ${formatCount(unanswered)} not answered last time), ${formatCount(gone)} are gone`,
          ...(next_poll_at === null ? [] : [`next read: ${formatTimestamp(next_poll_at)}`]),
        ];
  return ['Known commissions', ...lines].join('\n');
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
  return [`Last runs\n${table}`, ...errors].join('\n');
}

function renderBudget({ budget }: MirrorStatus): string {
  const lines = [
    `${counted(budget.used_requests, 'request')} ${budget.used_requests === 1 ? 'counts' : 'count'} against the limit now` +
      (budget.limit_requests === null ? '' : ` (the API names ${formatCount(budget.limit_requests)})`),
  ];
  if (budget.foreign_requests > 0) {
    lines.push(`${formatCount(budget.foreign_requests)} more were made by other software on the account`);
  }
  if (budget.paused_until !== null) {
    lines.push(`paused until ${formatTimestamp(budget.paused_until)}; it then goes on by itself`);
  }
  lines.push(
    budget.last_throttled_at === null
      ? 'the API never answered 429'
      : `the API last answered 429 at ${formatTimestamp(budget.last_throttled_at)}`,
  );
  return `Request budget\n${lines.join('\n')}`;
}

function renderPayments({ payments }: MirrorStatus): string {
  if (payments.states.length === 0) return 'Payments\nnothing was asked for yet';
  const states = renderTable(
    ['state', 'requests', 'need attention'],
    payments.states.map((one) => [one.state, one.requests, one.needing_attention]),
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

/** Smaller tables are left out. */
const LEAST_BYTES = 100_000;

/** Returns its tables, what they gain in a year, and when the disk is full. */
export function renderGrowth(growth: Growth): string {
  const shown = growth.tables.filter(({ bytes }) => bytes >= LEAST_BYTES);
  const table = renderTable(
    ['table', 'rows', 'size', 'rows a day', 'a year', 'kept'],
    shown.map((one) => [
      one.table_name,
      one.rows,
      formatBytes(one.bytes),
      one.rows_per_day === null ? null : formatCount(Math.round(one.rows_per_day)),
      one.bytes_per_year === null ? null : formatBytes(one.bytes_per_year),
      describeKept(one),
    ]),
  );
  return ['Growth', ...(shown.length === 0 ? [] : [table]), describeRate(growth), describeDisk(growth)].join(
    '\n',
  );
}
