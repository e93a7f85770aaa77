// Questions to the run log: which runs read all of their resource, and which resources were synced since a moment.

import { type RawBuilder, sql } from 'kysely';
import type { ListedResource } from '../../contract/resources.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { RunMode } from '../../db/tables.ts';

/**
 * The SQL condition that a run has read everything that it should, as `listSyncedSince` explains. The pruning of the
 * run log keeps the last such run.
 */
export const HAS_READ = sql`(verified or state = 'partial' and attempt = 1)`;

/** Returns whether a verified run has ever read all of the resource. */
export async function wasEverRead(db: Database, resource: string): Promise<boolean> {
  const { rows } = await sql`
    select from sync_runs where resource = ${resource} and verified and reads_everything limit 1
  `.execute(db);
  return rows.length > 0;
}

/**
 * Returns whether some of the records have a row, and all these rows were first seen before the end of the last
 * verified run of the resource; false if there is no such run. A rejected record has no row, and may be new. A row that
 * an unverified run stored says nothing about the records after it in the list.
 */
export async function areRowsOld(
  db: Database,
  { resource, ids }: { resource: ListedResource; ids: readonly string[] },
): Promise<boolean> {
  const answer = await sql<{ are_old: boolean }>`
    select coalesce(bool_and(_first_seen_at <= coalesce(
      (select max(finished_at) from sync_runs where resource = ${resource} and verified),
      '-infinity'
    )), false) as are_old
    from ${sql.table(resource)} where id = any(${ids}::text[])`.execute(db);
  return onlyRow(answer, 'the age of the rows').are_old;
}

/** Returns the last verified run of the resource that read everything, before the given one; null if there is none. */
export async function lastWholeRun(
  database: Database | DatabaseTransaction,
  { resource, before }: { resource: string; before: number },
): Promise<number | null> {
  const { rows } = await sql<{ id: number | null }>`
    select max(id) as id from sync_runs
    where resource = ${resource} and verified and reads_everything and id < ${before}
  `.execute(database);
  return rows[0]?.id ?? null;
}

/**
 * Returns the resources of which a run, of this mode or a full one, has read everything that it should since then. A
 * run that ended unverified counts, because the next would most likely end so too; a resumed one does not, because a
 * new run may be verified.
 *
 * A delta of referrals depends on the counters of affiliates. It does not count if it began before the first such run
 * of affiliates ended: the sync of affiliates before it had failed.
 *
 * Units: milliseconds since 1970, by the database's clock.
 */
export async function listSyncedSince(db: Database, mode: RunMode, sinceMs: number): Promise<string[]> {
  const { rows } = await sql<{ resource: string }>`
    with ended as (
      select resource, mode, started_at, finished_at from sync_runs
      where mode in ('full', ${mode}) and ${HAS_READ}
        and finished_at > to_timestamp(${sinceMs / 1000}::float8)
    ), first_affiliates as (
      select min(finished_at) as finished_at from ended where resource = 'affiliates'
    )
    select distinct ended.resource from ended cross join first_affiliates
    where (ended.resource = 'referrals' and ended.mode = 'delta'
      and ended.started_at < first_affiliates.finished_at) is not true
  `.execute(db);
  return rows.map(({ resource }) => resource);
}

/**
 * Returns the resources of which a run, of this mode or a full one, ended or failed since then. Units: as
 * listSyncedSince.
 */
export async function listTriedSince(db: Database, mode: RunMode, sinceMs: number): Promise<string[]> {
  const { rows } = await sql<{ resource: string }>`
    select distinct resource from sync_runs
    where mode in ('full', ${mode}) and state in ('succeeded', 'partial', 'failed')
      and finished_at > to_timestamp(${sinceMs / 1000}::float8) and finished_at <= clock_timestamp()
  `.execute(db);
  return rows.map(({ resource }) => resource);
}

/**
 * Returns whether a full run of the resource that began since then has read everything that it should, as
 * `listSyncedSince` defines it. Accepted deletions are searched at the start of a run: an earlier start was too early.
 *
 * Units: as listSyncedSince.
 */
export async function wasSyncBegunSince(db: Database, resource: string, sinceMs: number): Promise<boolean> {
  const { rows } = await sql`
    select from sync_runs
    where resource = ${resource} and mode = 'full' and ${HAS_READ}
      and started_at > to_timestamp(${sinceMs / 1000}::float8)
    limit 1
  `.execute(db);
  return rows.length > 0;
}

/** Returns the condition that the API refused a sync of the resource since then, as it refuses a list that it lacks. */
export function wasRefusedSince(
  resource: RawBuilder<unknown>,
  moment: RawBuilder<unknown>,
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from sync_runs
    where resource = ${resource} and error_code = 'API_REJECTED' and finished_at > ${moment}
  )`;
}
