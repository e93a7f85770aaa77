// Which of the lists that the contract does not show the API serves (table optional_lists). Some live deployments do.
// The API is asked again every day.

import { sql } from 'kysely';
import type { ListSettings } from '../config/program/optional-lists.ts';
import type { OptionalList } from '../contract/optional-lists.ts';
import { isOptional, LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import { wasRefusedSince } from './runs/whole-runs.ts';

/** The age from which the API is asked again. */
const VALID_HOURS = 24;
/** The same after an answer that decided nothing. */
const RETRY_MINUTES = 10;

/** Stores the configuration, for all processes from now on. Idempotent: yes. */
export async function noteListSettings(db: Database, settings: ListSettings): Promise<void> {
  await sql`
    update optional_lists set setting = given.value
    from jsonb_each_text(${JSON.stringify(settings)}::jsonb) given
    where resource = given.key and setting <> given.value`.execute(db);
}

/** Returns the resources whose lists are mirrored, in the order in which a sync reads them. */
export async function readUsedLists(db: Database): Promise<readonly ListedResource[]> {
  const { rows } = await sql<{ resource: string }>`
    select resource from optional_lists where is_used`.execute(db);
  const used = new Set(rows.map(({ resource }) => resource));
  return LISTED_RESOURCES.filter((resource) => !isOptional(resource) || used.has(resource));
}

/**
 * Returns the lists for which the API must be asked: not asked by this version, for a day, or since a sync of the
 * resource was refused. With `isPatient`, an undecided list waits some minutes. A stored time in the future counts as
 * unknown, because the clock was ahead then. Those that were served last time come last.
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
    order by coalesce(is_served, false), resource`.execute(db);
  return rows.map(({ resource }) => resource);
}

/** Stores the API's answer. Idempotent: yes. */
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

/** Stores why an answer decided nothing; the earlier answer stays. Idempotent: yes. */
export async function saveListProblem(
  db: Database,
  { list, problem }: { list: OptionalList; problem: string },
): Promise<void> {
  await sql`
    update optional_lists set asked_at = clock_timestamp(), problem = ${problem} where resource = ${list}`.execute(
    db,
  );
}
