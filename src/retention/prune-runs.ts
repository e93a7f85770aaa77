// Deletes a batch of the run log that is over age, but for every run that something depends on: what is known of each
// resource now, the schedules, and whatever still names the run.

import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { HAS_READ } from '../mirror/runs/whole-runs.ts';
import { type Batch, type BatchCounts, type BatchInput, endBatch } from './batch.ts';

/** Tables with a column run_id that are small, or have an index on it. */
const NAMING = ['held_back_deletions', 'covered_counters', 'seen_rows', 'schema_drift'];

/** Returns what the batch did. Throws: lock_not_available (55P03) where somebody writes one of the rows. */
export async function pruneRuns(trx: DatabaseTransaction, input: BatchInput): Promise<Batch> {
  const { cutoff, reached, limit } = input;
  const answer = await sql<BatchCounts>`
    with next as materialized (
      select id, resource, state, verified, coalesce(finished_at, heartbeat_at) < ${cutoff} as is_over_age
      from sync_runs where id > ${reached} order by id limit ${limit}
    ), aged as materialized (
      select * from next
      where id < coalesce((select min(id) from next where not is_over_age), 9223372036854775807)
    ), known as materialized (
      select listed.resource,
        ${lastRun(sql`verified and reads_everything`)} as whole,
        ${lastRun(sql`state in ('succeeded', 'partial') and reads_everything`)} as ended,
        array[
          ${lastRun(sql`verified`)},
          ${lastRun(sql`state <> 'skipped'`)},
          -- The schedules ask when a full run, and when any, last read what it should; a refusal is asked for, too.
          ${lastRun(sql`mode = 'full' and ${HAS_READ}`)},
          ${lastRun(sql`mode = 'delta' and ${HAS_READ}`)},
          ${lastRun(sql`error_code = 'API_REJECTED'`)}
        ] as last
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
    ), deleted as (
      delete from sync_runs where id = any(array(
        select id from sync_runs
        where id in (select id from free) and id not in (select run_id from changing)
        for update nowait
      ))
      returning 1
    )
    select (select count(*) from deleted) as deleted, (select count(*) from aged) as looked_at,
      (select max(id) from aged) as reached`.execute(trx);
  return endBatch(input, onlyRow(answer, 'the counts of a batch'));
}

function lastRun(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select max(run.id) from sync_runs run where run.resource = listed.resource and ${condition})`;
}

function isNotNamedIn(table: string): RawBuilder<unknown> {
  return sql`not exists (select from ${sql.table(table)} naming where naming.run_id = aged.id)`;
}
