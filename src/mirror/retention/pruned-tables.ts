// The tables that lose rows by age, one entry each: the setting, and which rows are over age and not needed any more.
//
// Never pruned: the payment ledger (commission_updates) and the changes (PUT) that were sent for it, the mirrored
// tables with the rows marked deleted, and the forgotten people. Bounded by themselves: held_back_deletions, seen_rows,
// request_permits, exports, ended jobs (docs/retention.md).

import { type RawBuilder, sql } from 'kysely';
import type { Retention } from '../../config/process/retention.ts';
import { type PruneBatch, pruneHistory, pruneRuns, pruneWhere } from './prune-batch.ts';

export interface PrunedTable {
  readonly name: string;
  /** Null: for ever. */
  readonly keepDays: (retention: Retention) => number | null;
  readonly pruneBatch: PruneBatch;
}

/** A run is resumed within hours: after that, the counters of an unverified run mean nothing. */
const UNVERIFIED_COUNTERS_DAYS = 1;

/** As long as the run log by default: a year and a month. */
const RESOLVED_ALERTS_DAYS = 400;

/** In this order: a run is kept for as long as a row of the tables before it names it. */
export const PRUNED_TABLES: readonly PrunedTable[] = [
  {
    name: 'schema_drift',
    keepDays: ({ drift }) => drift,
    pruneBatch: pruneWhere(
      'schema_drift',
      (cutoff) => sql`not exists (
        select from sync_runs run where run.id = run_id
          and (coalesce(run.finished_at, run.heartbeat_at) >= ${cutoff} or ${isCurrent(sql`run.resource`, sql`run.id`)})
      )`,
    ),
  },
  {
    name: 'rejected_records',
    keepDays: ({ rejected }) => rejected,
    pruneBatch: pruneWhere(
      'rejected_records',
      (cutoff) => sql`observed_at < ${cutoff}
        and not coalesce(${isCurrent(sql`rejected_records.resource`, sql`run_id`)}, false)`,
    ),
  },
  {
    name: 'commission_update_attempts',
    keepDays: ({ attempts }) => attempts,
    // The PUTs belong to the payment ledger, which counts them. A request without an end may be retried.
    pruneBatch: pruneWhere(
      'commission_update_attempts',
      (cutoff) => sql`method = 'GET' and sent_at < ${cutoff} and exists (
        select from commission_updates request where request.id = update_id and request.finished_at < ${cutoff})`,
    ),
  },
  { name: 'record_history', keepDays: ({ history }) => history, pruneBatch: pruneHistory },
  {
    name: 'covered_counters',
    keepDays: () => UNVERIFIED_COUNTERS_DAYS,
    pruneBatch: pruneWhere(
      'covered_counters',
      (cutoff) => sql`not exists (
        select from sync_runs run where run.id = run_id
          and (run.verified or run.state = 'running' or coalesce(run.finished_at, run.heartbeat_at) >= ${cutoff}))`,
    ),
  },
  {
    name: 'alerts',
    keepDays: () => RESOLVED_ALERTS_DAYS,
    // Their messages are deleted with them, so none may be pending.
    pruneBatch: pruneWhere(
      'alerts',
      (cutoff) => sql`resolved_at < ${cutoff} and not exists (
        select from alert_notices notice where notice.alert_id = alerts.id and notice.state = 'pending')`,
    ),
  },
  { name: 'sync_runs', keepDays: ({ runs }) => runs, pruneBatch: pruneRuns },
];

/** The status shows all since the last runs that read all of their resource, however old they are. */
function isCurrent(resource: RawBuilder<unknown>, runId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${runId} >= coalesce(least(
    (select max(whole.id) from sync_runs whole
     where whole.resource = ${resource} and verified and reads_everything),
    (select max(whole.id) from sync_runs whole
     where whole.resource = ${resource} and state in ('succeeded', 'partial') and reads_everything)
  ), 0)`;
}
