// Makes the mirror of a demo look as one that has been at work for weeks: earlier runs, growth, payments, alerts. What
// goes wrong is added in a second step.

import type { Pool } from '../../src/db/connect/shared-pool.ts';

/** Units: days before now, at which the first load was. */
const BEGAN_DAYS = 45;

/** Stores what a mirror leaves behind with which all is well. */
export async function fillWell(pool: Pool): Promise<void> {
  // The syncs of the demo itself become the first load.
  await pool.query(`
    update sync_runs set started_at = started_at - interval '${BEGAN_DAYS} days',
      heartbeat_at = heartbeat_at - interval '${BEGAN_DAYS} days', finished_at = finished_at - interval '${BEGAN_DAYS} days'`);
  for (const table of ['campaigns', 'affiliates', 'links', 'referrals', 'sales', 'commissions']) {
    await pool.query(`
      update ${table} set _first_seen_at = now() - case when abs(hashtext(id)) % 8 = 0
        then abs(hashtext(id)) % ${BEGAN_DAYS * 24 * 60} * interval '1 minute' else interval '${BEGAN_DAYS} days 1 hour' end`);
  }
  // The made-up program is as old as its seed: its last day becomes today.
  await pool.query(`
    update referrals set created_at = created_at + late,
      became_lead_at = case when conversion_state <> 'visitor' then created_at + late + interval '2 days' end,
      became_conversion_at = case when conversion_state = 'conversion' then created_at + late + interval '5 days' end
    from (select now() - max(created_at) as late from referrals) shifted`);
  await pool.query('delete from record_history');
  await pool.query(`
    insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
    select 'referrals', id, 'updated', '{"visits": 1}', '{"visits": 2}', at, at
    from referrals, generate_series(1, 6) as nth
    cross join lateral (select now() - abs(hashtext(id || nth)) % ${(BEGAN_DAYS - 1) * 24 * 60} * interval '1 minute' as at) then_`);
  await pool.query(`
    insert into sync_runs (resource, mode, state, verified, requests, pages, rows_seen, rows_inserted, rows_updated,
      rows_unchanged, distinct_seen, total_upstream, started_at, heartbeat_at, finished_at, error_code, error)
    select resource, mode, case when is_failed then 'failed' else 'succeeded' end, not is_failed, requests, requests,
      rows_seen, rows_seen / 40, rows_seen / 9, rows_seen - rows_seen / 40 - rows_seen / 9, rows_seen,
      case when mode = 'full' then rows_seen end, at, at + took, at + took,
      case when is_failed then 'API_UNAVAILABLE' end, case when is_failed then 'the program answered 503' end
    from generate_series(36, 0, -1) as hour
    cross join (values (0, 'campaigns', 4, 1), (1, 'affiliates', 1000, 10), (2, 'referrals', 5000, 50), (3, 'commissions', 3200, 32))
      as listed (place, resource, whole, pages)
    cross join lateral (select case when hour % 24 = 7 then 'full' else 'delta' end as mode,
      hour in (29, 14) and resource = 'referrals' as is_failed) kind
    cross join lateral (select case mode when 'full' then whole else 20 + abs(hashtext(resource || hour)) % 90 end as rows_seen,
      case mode when 'full' then pages else 3 + abs(hashtext(resource || hour)) % 5 end as requests) size
    cross join lateral (select now() - interval '4 minutes' - hour * interval '1 hour' + place * interval '30 seconds' as at,
      requests * interval '0.7 seconds' as took) times
    order by at`);
  await pool.query(`
    insert into commission_updates (commission_id, action, paid_at, batch_id, requested_by)
    select id, 'pay', now(), 'march payout ' || (1 + row_number() over (order by id) / 30), 'finance'
    from commissions where paid_at is null and _deleted_at is null and voided_at is null
      and id not in (select commission_id from commission_updates) order by id limit 80`);
  await pool.query(`
    update commission_updates set state = 'applied', outcome = 'paid', attempts = 1, finished_at = now()
    where state = 'pending'`);
  await pool.query('delete from request_permits');
  await pool.query(`
    insert into request_permits (priority, granted_at, returned_at, expires_at)
    select case when n < 7 then 'payments' else 'reads' end, now(), case when n > 2 then now() end, now() + interval '1 hour'
    from generate_series(1, 19) n`);
  await pool.query(`
    insert into sync_runs (resource, mode, started_at, heartbeat_at, pages, requests, distinct_seen, total_upstream)
    values ('referrals', 'full', now() - interval '22 seconds', now(), 31, 31, 3100, 5000)`);
  await pool.query(`
    insert into alerts (code, resource, what, fix, error_code, since, opened_at, resolved_at)
    values ('sync_failed', 'referrals', 'the last sync of referrals failed', 'affiliate-mirror doctor', 'API_UNAVAILABLE',
      now() - interval '14 hours', now() - interval '14 hours', now() - interval '13 hours')`);
  await pool.query(`
    insert into alert_notices (alert_id, kind, channel, state, attempts)
    values (1, 'opened', 'webhook', 'sent', 1), (1, 'resolved', 'webhook', 'sent', 1)`);
  await pool.query('analyze');
}

/** Adds what somebody should look at. */
export async function fillConcerns(pool: Pool): Promise<void> {
  await pool.query(`
    update sync_runs set state = 'partial', finished_at = now(), verified = true, rows_seen = 4940, rows_unchanged = 4910,
      rows_updated = 28, rows_rejected = 2, pages = 50, requests = 50, distinct_seen = 4940, total_upstream = 4940,
      deletes_held_back = 60, error = '60 deletions held back'
    where state = 'running'`);
  await pool.query(`
    insert into held_back_deletions (resource, record_id, run_id)
    select 'referrals', id, (select max(id) from sync_runs) from referrals order by id limit 60`);
  await pool.query(`
    insert into rejected_records (run_id, resource, record_id, reason, payload, observed_at)
    select (select max(id) from sync_runs), 'referrals', gen_random_uuid()::text, 'visits: expected number, got string',
      '{}', now() from generate_series(1, 2)`);
  await pool.query(`
    insert into schema_drift (run_id, resource, field, kind, found, occurrences)
    select max(id), 'referrals', 'utm_source', 'appeared', 'string', 4940 from sync_runs`);
  await pool.query(`
    insert into sync_runs (resource, mode, state, verified, requests, started_at, heartbeat_at, finished_at, error_code, error)
    values ('affiliates', 'delta', 'failed', false, 3, now(), now(), now(), 'API_UNAVAILABLE', 'the program answered 503')`);
  await pool.query(`
    insert into commission_updates (commission_id, action, paid_at, batch_id, requested_by)
    select id, 'pay', now(), 'april payout', 'finance' from commissions
    where paid_at is null and _deleted_at is null and voided_at is null
      and id not in (select commission_id from commission_updates) order by id limit 12`);
  await pool.query(`
    update commission_updates set state = 'failed', outcome = 'given up', attempts = 9, finished_at = now()
    where state = 'pending' and id % 4 = 0`);
  await pool.query(`
    insert into alerts (code, resource, what, fix, error_code, since, opened_at)
    values ('sync_failed', 'affiliates', 'the last sync of affiliates failed', 'affiliate-mirror doctor', 'API_UNAVAILABLE',
      now(), now())`);
  await pool.query(`
    insert into alert_notices (alert_id, kind, channel, state, attempts)
    values (2, 'opened', 'webhook', 'sent', 1), (2, 'opened', 'email', 'sent', 1)`);
}
