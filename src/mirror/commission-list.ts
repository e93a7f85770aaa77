// Whether the program lists its commissions, as it was found out (table commission_list). The contract shows no such
// list, but live deployments were seen to serve one: nothing depends on it, and it is asked again every day.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { wasRefusedSince } from './runs/whole-runs.ts';

/** How the answer is found: by asking, or by configuration. */
export type ListSetting = 'auto' | 'on' | 'off';

/** An answer is asked for again after so long. */
const VALID_HOURS = 24;
/** Where the answer decided nothing, it is asked for again after so long. */
const RETRY_MINUTES = 10;

/** Notes the configuration; it holds for everybody from here on. Idempotent: yes. */
export async function noteListSetting(db: Database, setting: ListSetting): Promise<void> {
  await sql`update commission_list set setting = ${setting} where setting <> ${setting}`.execute(db);
}

/** Returns whether commissions are mirrored by their list. */
export async function isCommissionListUsed(db: Database): Promise<boolean> {
  const answer = await sql<{ is_used: boolean }>`select is_used from commission_list`.execute(db);
  return onlyRow(answer, 'commission_list').is_used;
}

/**
 * Returns whether the program is to be asked: never by this version, not for a day, or not since a sync of commissions
 * was refused. With `isPatient`, a question that was not answered waits for some minutes. An answer or a question of
 * the future is of an unknown time: the clock was ahead.
 */
export async function isListQuestionDue(
  db: Database,
  { version, isPatient }: { version: string; isPatient: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    select from commission_list list
    where setting = 'auto'
      and (
        found_at is null or found_by <> ${version}
        or found_at not between clock_timestamp() - make_interval(hours => ${VALID_HOURS}) and clock_timestamp()
        or ${wasRefusedSince('commissions', sql`list.found_at`)}
      )
      and (
        not ${isPatient}::boolean or asked_at is null or found_at = asked_at
        or asked_at not between clock_timestamp() - make_interval(mins => ${RETRY_MINUTES}) and clock_timestamp()
      )`.execute(db);
  return rows.length > 0;
}

/** Keeps the program's answer. Idempotent: yes. */
export async function saveListAnswer(
  db: Database,
  { isServed, version }: { isServed: boolean; version: string },
): Promise<void> {
  await sql`
    update commission_list
    set is_served = ${isServed}, found_at = now.at, asked_at = now.at, found_by = ${version}, problem = null
    from (select clock_timestamp() as at) now`.execute(db);
}

/** Notes an answer that decides nothing, and why; what was known before stays. Idempotent: yes. */
export async function saveListProblem(db: Database, problem: string): Promise<void> {
  await sql`update commission_list set asked_at = clock_timestamp(), problem = ${problem}`.execute(db);
}
