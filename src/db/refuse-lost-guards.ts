// The triggers that keep the history and check requests for payments, and the keys that let nothing be there twice. A
// restore makes them last: one that was stopped, or that left them out, looks whole, and what it lets through is never
// noticed.

import type { PoolClient } from 'pg';
import { SchemaMismatch } from '../errors.ts';

/** By table. A test compares them, and the keys, with what the migrations make. */
export const TRIGGERS: readonly string[] = [
  ...['affiliates', 'campaigns', 'commissions', 'links', 'referrals', 'sales'].flatMap((table) => [
    `${table}.record_changes`,
    `${table}.record_insertions`,
  ]),
  'commission_updates.announce',
  'commission_updates.check_request',
  'commission_updates.keep_request',
  'commission_updates.keep_requests',
  'commission_updates.take_turns',
  'tracked_commissions.lower_commission_id',
];

const KEYED_TABLES = [
  'affiliates',
  'alert_notices',
  'alert_watch',
  'alerts',
  'books_comparisons',
  'campaigns',
  'change_clock',
  'commission_update_attempts',
  'commission_updates',
  'commissions',
  'covered_counters',
  'exports',
  'forgotten_addresses',
  'forgotten_people',
  'forgotten_records',
  'held_back_deletions',
  'links',
  'optional_lists',
  'personal_data',
  'pruned_tables',
  'record_history',
  'referrals',
  'rejected_records',
  'request_budget',
  'request_permits',
  'sales',
  'schema_drift',
  'schema_migrations',
  'sync_runs',
  'tracked_commissions',
  'worker_state',
];

export const KEYS: readonly string[] = [
  ...KEYED_TABLES.map((table) => `${table}_pkey`),
  'affiliates__row_number_key',
  'alert_notices_alert_id_kind_channel_key',
  'alerts_unresolved',
  'campaigns__row_number_key',
  'commission_updates_idempotency_key_is_used_once',
  'commissions__row_number_key',
  'referrals__row_number_key',
  'rejected_records_once_a_run',
  'sync_runs_one_running',
];

/** Throws: SchemaMismatch where one of them is missing, or does not work. */
export async function refuseLostGuards(client: Pick<PoolClient, 'query'>, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `with ours as (select pg_class.oid, relname::text from pg_class join pg_namespace on pg_namespace.oid = relnamespace
                   where nspname = $1)
     (select unnest($2::text[]) as name
      except select relname || '.' || tgname from pg_trigger join ours on ours.oid = tgrelid where tgenabled in ('O', 'A'))
     union all
     (select unnest($3::text[])
      except select relname from pg_index join ours on ours.oid = indexrelid where indisunique and indisvalid)
     limit 1`,
    [schema, TRIGGERS, KEYS],
  );
  const [lost] = rows;
  if (lost === undefined) return;
  const what = lost.name.includes('.')
    ? `trigger ${lost.name} is missing or off`
    : `key ${lost.name} is missing`;
  throw new SchemaMismatch(
    `the ${what} in the schema ${schema}, as after a restore that did not come to its end: without it, changes leave no history, or records and payments come twice. Restore the backup once more, whole; a trigger that is off is put on with "alter table … enable trigger"`,
  );
}
