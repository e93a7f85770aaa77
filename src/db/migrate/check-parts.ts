// Finds parts of the schema that a restore or a move lost. `doctor` calls it, and `migrate` at its end.
//
// A restore makes triggers and keys last: without them a stopped restore seems whole, and wrong rows are never noticed.

import { SchemaMismatch } from '../../base/errors.ts';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { RECORDS } from '../../contract/records.ts';
import { LISTED_RESOURCES } from '../../contract/resources.ts';
import type { Pool } from '../connect/shared-pool.ts';
import { RELATIONS } from '../relations.ts';

const MIRRORED = Object.keys(RECORDS);

/** By table. A test compares triggers and keys with those that the migrations make. */
export const TRIGGERS: readonly string[] = [
  ...MIRRORED.flatMap((table) => [`${table}.record_changes`, `${table}.record_insertions`]),
  'commission_updates.announce',
  'commission_updates.check_request',
  'commission_updates.keep_request',
  'commission_updates.keep_requests',
  'commission_updates.take_turns',
  'tracked_commissions.lower_commission_id',
];

/** The first `forget` makes them (keep_out_forgotten). */
const FORGOTTEN_TRIGGERS: readonly string[] = [
  ...MIRRORED.flatMap((table) => [`${table}.forgotten_in_extra`, `${table}.forgotten_inserted`]),
  ...['affiliates', 'commission_updates', 'links', 'referrals', 'rejected_records'].map(
    (table) => `${table}.forgotten_people`,
  ),
];

/** Every other table has a primary key. */
export const TABLE_WITHOUT_KEY = 'seen_rows';
export const UNIQUE_INDEXES: readonly string[] = [
  ...LISTED_RESOURCES.map((resource) => `${resource}__row_number_key`),
  'alert_notices_alert_id_kind_channel_key',
  'alerts_unresolved',
  'commission_updates_idempotency_key_is_used_once',
  'rejected_records_once_a_run',
  'sync_runs_one_running',
];

/** Throws: SchemaMismatch with the first missing part, and what to run. */
export async function checkParts(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ lost: string }>(LOST, [
    schema,
    TRIGGERS,
    UNIQUE_INDEXES,
    RELATIONS,
    TABLE_WITHOUT_KEY,
    FORGOTTEN_TRIGGERS,
  ]);
  const [first] = rows;
  if (first !== undefined) {
    throw new SchemaMismatch(
      `the ${first.lost} in the schema ${schema}, as after a restore that did not come to its end: without it, changes leave no history, records and payments come twice, or a forgotten person comes back. Restore the backup once more, whole; a trigger that is off is put on with "alter table … enable trigger"`,
    );
  }
  if (!(await hasReports(pool, schema))) {
    throw new SchemaMismatch(
      `the schema ${reportsSchema(schema)}, which goes with ${schema}, is missing or empty: run affiliate-mirror migrate, which makes its views again`,
    );
  }
}

/**
 * Returns whether the views of the reports exist. They have a schema of their own, which a backup of the mirror's
 * schema leaves out.
 */
export async function hasReports(client: Pick<Pool, 'query'>, schema: string): Promise<boolean> {
  const views = await client.query(
    `select from pg_depend join pg_class on pg_class.oid = objid
     where refclassid = 'pg_namespace'::regclass and classid = 'pg_class'::regclass
       and refobjid = (select oid from pg_namespace where nspname = $1) and relkind = 'v' limit 1`,
    [reportsSchema(schema)],
  );
  return views.rowCount !== 0;
}

// By name, of which there is an index: with a hundred mirrors, reading all of pg_class took ten times as long.
const LOST = `
  with ours as (select pg_class.oid, relname::text, relkind
                from pg_class
                where relnamespace = (select oid from pg_namespace where nspname = $1)
                  and relname = any ($3::text[] || $4::text[]))
  select 'trigger ' || name || ' is missing or off' as lost
  from (select unnest($2::text[]) union all
        select unnest($6::text[]) where has_forgotten_people()) as wanted (name)
  where not exists (select from pg_trigger join ours on ours.oid = tgrelid
                    where relname || '.' || tgname = name and tgenabled in ('O', 'A'))
  union all
  select 'key ' || name || ' is missing'
  from unnest($3::text[]) as wanted (name)
  where not exists (select from pg_index join ours on ours.oid = indexrelid where relname = name and indisvalid)
  union all
  select 'key of the table ' || relname || ' is missing'
  from ours
  where relname = any ($4::text[]) and relkind = 'r' and relname <> $5
    and not exists (select from pg_index where indrelid = ours.oid and indisprimary and indisvalid)
  limit 1`;
