// Which lists the program has of those that its contract does not show, as it was found out (table optional_lists).
// Live deployments were seen to serve them: nothing depends on it, and it is asked again every day.

import { sql } from 'kysely';
import type { ListSettings, OptionalList } from '../config/optional-lists.ts';
import { isOptional, LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import { wasRefusedSince } from './runs/whole-runs.ts';

/** An answer is asked for again after so long. */
const VALID_HOURS = 24;
/** Where the answer decided nothing, it is asked for again after so long. */
const RETRY_MINUTES = 10;

/** Notes the configuration; it holds for everybody from here on. Idempotent: yes. */
export async function noteListSettings(db: Database, settings: ListSettings): Promise<void> {
  await sql`
    update optional_lists set setting = given.value
    from jsonb_each_text(${JSON.stringify(settings)}::jsonb) given
    where resource = given.key and setting <> given.value`.execute(db);
}

/** Returns the resources that are mirrored by their list, in the order in which a sync reads them. */
export async function readUsedLists(db: Database): Promise<readonly ListedResource[]> {
  const { rows } = await sql<{ resource: string }>`
    select resource from optional_lists where is_used`.execute(db);
  const used = new Set(rows.map(({ resource }) => resource));
  return LISTED_RESOURCES.filter((resource) => !isOptional(resource) || used.has(resource));
}

/**
 * Returns the lists that the program is to be asked for: never by this version, not for a day, or not since a sync of
 * the resource was refused. With `isPatient`, a question that was not answered waits for some minutes. An answer or a
 * question of the future is of an unknown time: the clock was ahead.
 */
export async function findDueLists(
  db: Database,
  { version, isPatient }: { version: string; isPatient: boolean },
): Promise<readonly OptionalList[]> {
  const { rows } = await sql<{ resource: OptionalList }>`
    select resource from optional_lists list
    where setting = 'auto'
      and (
        found_at is null or found_by <> ${version}
        or found_at not between clock_timestamp() - make_interval(hours => ${VALID_HOURS}) and clock_timestamp()
        or ${wasRefusedSince(sql`list.resource`, sql`list.found_at`)}
      )
      and (
        not ${isPatient}::boolean or asked_at is null or found_at = asked_at
        or asked_at not between clock_timestamp() - make_interval(mins => ${RETRY_MINUTES}) and clock_timestamp()
      )
    order by resource`.execute(db);
  return rows.map(({ resource }) => resource);
}

/** Keeps the program's answer. Idempotent: yes. */
export async function saveListAnswer(
  db: Database,
  { list, isServed, version }: { list: OptionalList; isServed: boolean; version: string },
): Promise<void> {
  await sql`
    update optional_lists
    set is_served = ${isServed}, found_at = now.at, asked_at = now.at, found_by = ${version}, problem = null
    from (select clock_timestamp() as at) now
    where resource = ${list}`.execute(db);
}

/** Notes an answer that decides nothing, and why; what was known before stays. Idempotent: yes. */
export async function saveListProblem(
  db: Database,
  { list, problem }: { list: OptionalList; problem: string },
): Promise<void> {
  await sql`
    update optional_lists set asked_at = clock_timestamp(), problem = ${problem} where resource = ${list}`.execute(
    db,
  );
}
