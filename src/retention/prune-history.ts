// Deletes a batch of the history that is over age. Of it stay: the last change of each record, so that the mirror as of
// any later moment is exact to the column; the changes that the reports count for ever (leads and conversions); and the
// insertions, which are a row for a hundred records that stay as well.
//
// Each change that came over age is looked at once, in the order of their numbers, which is that of their times. It
// makes the changes before it needless, and these are found by the index of the record's history: the work follows what
// is deleted, however much history there is or stays.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { type Batch, type BatchCounts, type BatchInput, endBatch } from './batch.ts';

/**
 * Returns what the batch did.
 *
 * Throws: lock_not_available (55P03) where somebody rewrites one of the rows.
 */
export async function pruneHistory(trx: DatabaseTransaction, input: BatchInput): Promise<Batch> {
  const { cutoff, reached, limit } = input;
  const answer = await sql<BatchCounts>`
    with next as materialized (
      select id, table_name, record_id, recorded_at < ${cutoff} as is_over_age
      from record_history where id > ${reached} order by id limit ${limit}
    ), aged as materialized (
      select * from next
      where id < coalesce((select min(id) from next where not is_over_age), 9223372036854775807)
    ), deleted as (
      delete from record_history where id = any(array(
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
        ) earlier
      ))
      returning 1
    )
    select (select count(*) from deleted) as deleted, (select count(*) from aged) as looked_at,
      (select max(id) from aged) as reached`.execute(trx);
  return endBatch(input, onlyRow(answer, 'the counts of a batch'));
}
