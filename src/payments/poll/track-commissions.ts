// Adds commissions to the tracked ones, which are read at intervals (tracked-commissions.ts).

import { type RawBuilder, sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import { pollInterval } from './poll-schedule.ts';

export interface Tracking {
  /** How many were not tracked before. */
  readonly added: number;
  /** How many were tracked before, and no longer read, since they seemed to be gone. */
  readonly resumed: number;
}

/** Tracks the commissions, and asks again for those that seemed to be gone. Idempotent: yes. */
export async function trackCommissions(
  db: Database,
  ids: readonly string[],
  trackedBy: string | null,
): Promise<Tracking> {
  // The main query reads the table as it was before.
  const answer = await sql<Tracking>`
    with written as (
      insert into tracked_commissions (commission_id, tracked_by)
      select id, coalesce(${trackedBy}::text, current_user)
      from (select distinct id from unnest(${ids}::text[]) as id) as given
      where ${isNotPolled()}
      order by id
      on conflict (commission_id) do update set next_poll_at = excluded.next_poll_at
        where tracked_commissions.next_poll_at is null
      returning commission_id
    )
    select count(*) filter (where known.commission_id is null) as added, count(known.commission_id) as resumed
    from written left join tracked_commissions known using (commission_id)
  `.execute(db);
  return onlyRow(answer, 'the count of tracked commissions');
}

/**
 * Tracks commissions that were just read. Idempotent: yes; a commission that is tracked already keeps its time.
 */
export async function trackObserved(trx: DatabaseTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    insert into tracked_commissions (commission_id, tracked_by, last_polled_at, next_poll_at)
    select given.id, 'the writer', clock_timestamp(), clock_timestamp() + ${pollInterval()}
    from (select distinct id from unnest(${ids}::text[]) as id) as given
    left join commissions commission on commission.id = given.id
    where ${isNotPolled()}
    order by given.id
    on conflict (commission_id) do update
      set last_polled_at = excluded.last_polled_at, next_poll_at = excluded.next_poll_at
      where tracked_commissions.next_poll_at is null
  `.execute(trx);
}

/**
 * A condition on `given.id`. The others are left out beforehand: a conflict locks its row, even if nothing is
 * changed.
 */
function isNotPolled(): RawBuilder<unknown> {
  return sql`not exists (
    select from tracked_commissions polled where polled.commission_id = given.id and polled.next_poll_at is not null
  )`;
}
