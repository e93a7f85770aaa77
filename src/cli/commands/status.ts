// The command `status`: how fresh the mirror is, and what the last runs did.

import type { Command } from 'commander';
import { POLL_SCHEDULE } from '../../commissions/poll-schedule.ts';
import { readConfig } from '../../config/config.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { makeLogger } from '../../log.ts';
import { type MirrorStatus, readStatus } from '../../reports/read-status.ts';
import { describeBlindSpots } from '../../sync/delta-blind-spots.ts';
import type { Cli } from '../cli.ts';
import { formatCount, formatDuration, formatInstant } from '../format.ts';
import { openDatabase } from '../open-database.ts';
import { print, printJson } from '../print.ts';
import { renderTable } from '../render-table.ts';

export function registerStatus(root: Command, cli: Cli): void {
  root
    .command('status')
    .description('how fresh the mirror is, what the last runs did, what was not stored')
    .option('--json', 'print it as one JSON document')
    .action(({ json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const config = readConfig(cli.environment);
        const log = makeLogger(config.logLevel);
        const { pool, db, name } = await openDatabase({ log, lifetime }, config, 'status');
        await checkSchema(pool, { schema: config.mirrorSchema });
        const status = await readStatus(db);
        if (json === true) printJson(status);
        else print(`Schema ${config.mirrorSchema} in ${name}\n\n${renderStatus(status)}`);
        return 0;
      }),
    );
}

function renderStatus(status: MirrorStatus): string {
  const sections = [
    renderFreshness(status),
    renderBlindSpots(status),
    renderRows(status),
    renderTracked(status),
    renderLastRuns(status),
  ];
  if (status.schema_drift.length > 0) sections.push(renderDrift(status));
  sections.push(renderBudget(status));
  return sections.join('\n\n');
}

function renderFreshness({ resources }: MirrorStatus): string {
  return `Freshness\n${renderTable(
    ['resource', 'fresh as of', 'age', 'last run', 'rejected', 'deletions held back'],
    resources.map((resource) => [
      resource.resource,
      resource.fresh_as_of === null ? 'never synced' : formatInstant(resource.fresh_as_of),
      resource.age_seconds === null ? null : formatDuration(resource.age_seconds * 1000),
      resource.last_state,
      resource.rejected_records,
      resource.deletes_held_back,
    ]),
  )}`;
}

function renderBlindSpots({ resources, schema_drift }: MirrorStatus): string {
  const table = renderTable(
    ['resource', 'everything read as of', 'age', 'deltas since', 'fields that drifted'],
    resources.map((resource) => [
      resource.resource,
      resource.full_as_of === null ? 'never' : formatInstant(resource.full_as_of),
      resource.full_age_seconds === null ? null : formatDuration(resource.full_age_seconds * 1000),
      resource.deltas_since_full,
      schema_drift.filter((drift) => drift.resource === resource.resource).length,
    ]),
  );
  return `Blind spots\n${table}\n${describeBlindSpots()}`;
}

function renderRows({ tables }: MirrorStatus): string {
  return `Rows\n${renderTable(
    ['table', 'rows', 'deleted upstream'],
    tables.map((table) => [table.table_name, table.rows, table.deleted]),
  )}`;
}

function renderTracked({ tracked_commissions }: MirrorStatus): string {
  const { tracked, due, unanswered, gone, next_poll_at } = tracked_commissions;
  const lines =
    tracked + gone === 0
      ? ['none yet: the program cannot list them (affiliate-mirror commissions track --help)']
      : [
          `${formatCount(tracked)} are asked for again and again by a worker (${formatCount(due)} due now, ${formatCount(unanswered)} not answered last time), ${formatCount(gone)} are gone`,
          ...(next_poll_at === null ? [] : [`next turn: ${formatInstant(next_poll_at)}`]),
          ...POLL_SCHEDULE.map((line) => `  - ${line}`),
        ];
  return ['Known commissions', ...lines].join('\n');
}

function renderLastRuns({ last_runs }: MirrorStatus): string {
  if (last_runs.length === 0) return 'Last runs\nnone yet: run affiliate-mirror sync';
  const table = renderTable(
    [
      'run',
      'resource',
      'mode',
      'state',
      'started',
      'requests',
      'read',
      'inserted',
      'updated',
      'deleted',
      'rejected',
    ],
    last_runs.map((run) => [
      String(run.id),
      run.resource,
      run.mode,
      run.state,
      formatInstant(run.started_at),
      run.requests,
      run.rows_seen,
      run.rows_inserted,
      run.rows_updated,
      run.rows_deleted,
      run.rows_rejected,
    ]),
  );
  const errors = last_runs
    .filter((run) => run.error !== null)
    .map(
      (run) =>
        `run ${run.id} ${run.state}: ${run.error}${run.error_code === null ? '' : ` (${run.error_code})`}`,
    );
  return [`Last runs\n${table}`, ...errors].join('\n');
}

function renderDrift({ schema_drift }: MirrorStatus): string {
  return `Where the program differs from its contract\n${renderTable(
    ['run', 'resource', 'field', 'what', 'found', 'records'],
    schema_drift.map((drift) => [
      String(drift.run_id),
      drift.resource,
      drift.field,
      drift.kind,
      drift.found,
      drift.occurrences,
    ]),
  )}`;
}

function renderBudget({ budget }: MirrorStatus): string {
  const lines = [
    `${formatCount(budget.used_requests)} requests count against the limit now` +
      (budget.limit_requests === null ? '' : ` (the program names ${formatCount(budget.limit_requests)})`),
  ];
  if (budget.foreign_requests > 0) {
    lines.push(`${formatCount(budget.foreign_requests)} more were made by somebody else on the account`);
  }
  if (budget.paused_until !== null) lines.push(`paused until ${formatInstant(budget.paused_until)}`);
  lines.push(
    budget.last_throttled_at === null
      ? 'the program never answered 429'
      : `the program last answered 429 at ${formatInstant(budget.last_throttled_at)}`,
  );
  return `Request budget\n${lines.join('\n')}`;
}
