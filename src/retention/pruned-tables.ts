// Which tables lose rows by age, one entry each: the setting that it obeys, what is over age, and what of that stays.
//
// Never pruned, whatever is set: the payment ledger (commission_updates) and the changes (PUT) that were sent for it,
// the mirrored tables with the rows marked deleted, who was forgotten. Bounded by themselves: held_back_deletions,
// seen_rows, request_permits, exports, jobs that ended (docs/retention.md).

import { type RawBuilder, sql } from 'kysely';
import type { Retention } from '../config/retention.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { PruneBatch } from './batch.ts';
import { pruneHistory } from './prune-history.ts';
import { pruneRuns } from './prune-runs.ts';

export interface PrunedTable {
  readonly name: string;
  /** How many days its rows are kept; null: for ever. */
  readonly keepDays: (retention: Retention) => number | null;
  readonly pruneBatch: PruneBatch;
}

/** A run is taken up again within hours: those of one that ended unverified before that mean nothing any more. */
const UNVERIFIED_COUNTERS_DAYS = 1;

/** As long as the run log by default: a year, and a month to look back on it. */
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
    // What was written belongs to the payment ledger, which counts it (puts). What may still be tried again is not
    // over.
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
    // Their messages go with them, so none of those may still be under way.
    pruneBatch: pruneWhere(
      'alerts',
      (cutoff) => sql`resolved_at < ${cutoff} and not exists (
        select from alert_notices notice where notice.alert_id = alerts.id and notice.state = 'pending')`,
    ),
  },
  { name: 'sync_runs', keepDays: ({ runs }) => runs, pruneBatch: pruneRuns },
];

/** The status speaks of everything since the last runs that read all of their resource, whatever its age. */
function isCurrent(resource: RawBuilder<unknown>, runId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${runId} >= coalesce(least(
    (select max(whole.id) from sync_runs whole
     where whole.resource = ${resource} and verified and reads_everything),
    (select max(whole.id) from sync_runs whole
     where whole.resource = ${resource} and state in ('succeeded', 'partial') and reads_everything)
  ), 0)`;
}

/**
 * Returns the function that deletes such rows, but those that somebody is writing: they are left to the next look. For
 * tables that are small enough to be read through for it: no index on their times is worth what it costs each load.
 */
function pruneWhere(table: string, isOverAge: (cutoff: Timestamp) => RawBuilder<unknown>): PruneBatch {
  return async (trx, { cutoff, reached, limit }) => {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${isOverAge(cutoff)} limit ${limit} for update skip locked
      ))`.execute(trx);
    const deleted = Number(numAffectedRows);
    return { deleted, reached, isLast: deleted < limit };
  };
}
