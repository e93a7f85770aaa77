// A mark that differs if the data of an open view changed. Cheap enough to be read every second.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

/** If more runs changed at once, the newest is among these. */
const RECENT_RUNS = 20;

/**
 * Returns the mark of runs and their progress, payments, pauses, held back deletions, alerts and their messages,
 * exports, and comparisons of the books.
 */
export async function readChangeMark(db: Database): Promise<string> {
  const answer = await sql<{ mark: string }>`
    select concat_ws(' ',
      (select concat(max(id), ' ', max(heartbeat_at), ' ', max(finished_at), ' ', count(finished_at),
                     ' ', sum(unanswered_attempt), ' ',
                     -- So that a wait is shown anew while it lasts.
                     floor(extract(epoch from clock_timestamp() - max(unanswered_since)) / 15))
       from (select id, heartbeat_at, finished_at, unanswered_since, unanswered_attempt from sync_runs order by id desc limit ${RECENT_RUNS}) runs),
      (select max(id) from commission_updates),
      (select count(*) from commission_updates where state = 'pending'),
      (select max(id) from commission_update_attempts),
      (select concat(paused_until, last_throttled_at) from request_budget),
      (select refused_at from worker_state),
      (select concat(count(*), ' ', count(accepted_at)) from held_back_deletions),
      (select concat(count(opened_at), ' ', count(resolved_at)) from alerts),
      (select concat(max(id), ' ', sum(attempts), ' ', count(settled_at)) from alert_notices),
      (select max(exported_at) from exports),
      (select max(compared_at) from books_comparisons),
      (select max(accepted_at) from books_differences)
    ) as mark`.execute(db);
  return onlyRow(answer, 'the mark of changes').mark;
}
