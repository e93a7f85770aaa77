// Deletes a batch of rows over age, and never waits for a lock. Small tables are read whole each time. The history and
// the run log are walked once, in the order of their numbers, which is that of the times: an index on the times would
// cost each load more.

import { type RawBuilder, sql } from 'kysely';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import { HAS_READ } from '../runs/whole-runs.ts';

interface BatchInput {
  /** Older rows are over age. */
  readonly cutoff: Timestamp;
  /** The last number that earlier batches checked; 0 at the beginning. */
  readonly reached: number;
  readonly limit: number;
}

export interface Batch {
  readonly deleted: number;
  /** The last number that this one checked. */
  readonly reached: number;
  /** Whether no more rows are over age. */
  readonly isLast: boolean;
}

/** Throws: lock_not_available (55P03) if another transaction writes one of the rows of a walked table. */
export type PruneBatch = (trx: DatabaseTransaction, input: BatchInput) => Promise<Batch>;

/** Returns the function that deletes such rows. Rows that another transaction is writing are left to the next pass. */
export function pruneWhere(table: string, isOverAge: (cutoff: Timestamp) => RawBuilder<unknown>): PruneBatch {
  return async (trx, { cutoff, reached, limit }) => {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${isOverAge(cutoff)} limit ${limit} for update skip locked
      ))`.execute(trx);
    const deleted = Number(numAffectedRows);
    return { deleted, reached, isLast: deleted < limit };
  };
}

/**
 * Returns the function that checks the next rows of the table, and deletes those of `deletable`: a query of numbers,
 * from `aged`, which has the checked rows that are over age.
 */
function pruneWalking(table: string, time: RawBuilder<unknown>, deletable: RawBuilder<unknown>): PruneBatch {
  return async (trx, { cutoff, reached, limit }) => {
    const answer = await sql<{ deleted: number; checked: number; reached: number | null }>`
      with next as materialized (
        select *, ${time} < ${cutoff} as is_over_age
        from ${sql.table(table)} where id > ${reached} order by id limit ${limit}
      ), aged as materialized (
        select * from next
        where id < coalesce((select min(id) from next where not is_over_age), 9223372036854775807)
      ), deleted as (
        delete from ${sql.table(table)} where id = any(array(${deletable})) returning 1
      )
      select (select count(*) from deleted) as deleted, (select count(*) from aged) as checked,
        (select max(id) from aged) as reached`.execute(trx);
    const counts = onlyRow(answer, 'the counts of a batch');
    return {
      deleted: counts.deleted,
      reached: counts.reached ?? reached,
      isLast: counts.checked < limit,
    };
  };
}

/**
 * Deletes the history that is over age. Three kinds of rows stay: the last change of each record, so that the mirror as
 * of any later moment is exact to the column; the changes that the reports count for ever (leads and conversions); and
 * the insertions, which are one row for a hundred records.
 *
 * Each change over age is checked once. It makes the earlier changes of its record needless, and the index of the
 * record's history finds these: the work grows with the deleted rows, and not with the history.
 */
export const pruneHistory = pruneWalking(
  'record_history',
  sql`recorded_at`,
  sql`
    select earlier.id
    from aged
    cross join lateral (
      select history.id from record_history history
      where history.record_id = aged.record_id and history.id < aged.id
        and history.table_name = aged.table_name
        -- As conversion_events and referral_funnel_daily count them.
        and not (history.table_name = 'referrals'
                 and (coalesce(history.after ->> 'conversion_state', '') in ('lead', 'conversion')
                      or history.before ?| array['became_lead_at', 'became_conversion_at']))
      for update nowait
    ) earlier`,
);

/** Tables with a column run_id that are small, or have an index on it. */
const NAMING = ['held_back_deletions', 'covered_counters', 'seen_rows', 'schema_drift'];

/** The runs on which the state of a resource or the schedules depend: the last one of each of these. */
const LAST_RUNS = [
  sql`verified`,
  sql`state <> 'skipped'`,
  sql`mode = 'full' and ${HAS_READ}`,
  sql`mode = 'delta' and ${HAS_READ}`,
  sql`error_code = 'API_REJECTED'`,
].map(lastRun);

/** Deletes the run log that is over age, but for runs on which the status, the schedules or other rows depend. */
export const pruneRuns = pruneWalking(
  'sync_runs',
  sql`coalesce(finished_at, heartbeat_at)`,
  sql`
    with known as materialized (
      select listed.resource,
        ${lastRun(sql`verified and reads_everything`)} as whole,
        ${lastRun(sql`state in ('succeeded', 'partial') and reads_everything`)} as ended,
        array[${sql.join(LAST_RUNS)}] as last
      from (select distinct resource from aged) listed
    ), free as materialized (
      select aged.id
      from aged
      join known using (resource)
      where aged.state <> 'running'
        and aged.id <> all (array_remove(known.last, null))
        -- Status counts from the last whole run: with none, every verified run counts.
        and not (aged.verified and known.whole is null)
        and not (aged.state in ('succeeded', 'partial') and coalesce(known.whole, known.ended) is null)
        and aged.id < coalesce(least(known.whole, known.ended), aged.id + 1)
        and not exists (select from rejected_records rejected where coalesce(rejected.run_id, 0) = aged.id)
        and ${sql.join(NAMING.map(isNotNamedIn), sql` and `)}
    ), changing as materialized (
      select distinct run_id from record_history
      where run_id between (select min(id) from free) and (select max(id) from free)
    )
    select id from sync_runs
    where id in (select id from free) and id not in (select run_id from changing)
    for update nowait`,
);

function lastRun(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select max(run.id) from sync_runs run where run.resource = listed.resource and ${condition})`;
}

function isNotNamedIn(table: string): RawBuilder<unknown> {
  return sql`not exists (select from ${sql.table(table)} naming where naming.run_id = aged.id)`;
}
