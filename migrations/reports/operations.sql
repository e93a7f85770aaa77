-- What the command status, the status page, the metrics and the alerts show, defined once, where an analyst can read it
-- too. Masks as in records.sql.

create or replace view :"reports".freshness as
select listed.resource,
       whole.started_at as everything_as_of,
       floor(extract(epoch from now() - whole.started_at))::bigint as everything_age_seconds,
       fresh.started_at as changes_as_of,
       floor(extract(epoch from now() - fresh.started_at))::bigint as changes_age_seconds,
       deltas.runs as deltas_since_everything,
       nullif(concat_ws('; ',
         case when not list.is_used
           then 'the affiliate program does not list its ' || listed.resource || ': only known ones are here' end,
         case when whole.id is null and list.is_used is not false
           then 'everything was never read' end,
         case when fresh.id > whole.id
           then 'since everything was read only changes were looked for, and a delta does not see all of them' end,
         case when since.rows_rejected > 0 then 'records that could not be stored: ' || since.rows_rejected end,
         case when held.rows > 0
           then 'rows that seem to be gone from the affiliate program, and are not marked deleted: ' || held.rows end
       ), '') as not_covered,
       coalesce(since.rows_rejected, 0) as rejected_records,
       since.rejected_since,
       held.rows as deletions_held_back,
       held.since as deletions_held_back_since,
       held.accepted as deletions_accepted,
       last.id as last_run_id,
       last.state as last_run_state,
       last.verified as last_run_verified,
       last.started_at as last_run_started_at,
       last.heartbeat_at as last_run_saved_at,
       floor(extract(epoch from now() - last.heartbeat_at))::bigint as last_run_saved_age_seconds,
       last.finished_at as last_run_finished_at,
       last.error_code as last_run_error_code,
       -- That of a failed run may quote what the program sent.
       case when last.state <> 'failed' or (select has_table_privilege('sync_runs'::regclass, 'select')) then last.error end
         as last_run_error,
       trouble.failing_since,
       trouble.unverified_since,
       case when last.state = 'running' then floor(extract(epoch from clock_timestamp() - last.unanswered_since))::bigint end
         as last_run_unanswered_seconds,
       case when last.state = 'running' then last.unanswered_attempt end as last_run_unanswered_attempt
from (values (1, 'affiliates'), (2, 'referrals'), (3, 'campaigns'), (4, 'commissions'),
             (5, 'payouts')) as listed (place, resource)
left join optional_lists list on list.resource = listed.resource
left join lateral (
  select id, started_at from sync_runs
  where resource = listed.resource and verified
  order by id desc limit 1
) fresh on true
left join lateral (
  select id, started_at from sync_runs
  where resource = listed.resource and verified and reads_everything
  order by id desc limit 1
) whole on true
cross join lateral (
  select count(*) as runs from sync_runs
  where resource = listed.resource and verified and not reads_everything and id > coalesce(whole.id, 0)
) deltas
left join lateral (
  select * from sync_runs
  where resource = listed.resource and state <> 'skipped'
  order by id desc limit 1
) last on true
cross join lateral (
  select min(coalesce(failed_at, case when state = 'failed' then finished_at end)) as failing_since,
         min(finished_at) filter (where state = 'partial' and not verified) as unverified_since
  from sync_runs where resource = listed.resource and id > coalesce(fresh.id, 0)
) trouble
cross join lateral (
  select max(rows_rejected) as rows_rejected, min(started_at) filter (where rows_rejected > 0) as rejected_since
  from sync_runs
  where resource = listed.resource and state in ('succeeded', 'partial')
    and id >= coalesce((
      select id from sync_runs
      where resource = listed.resource and state in ('succeeded', 'partial') and reads_everything
      order by id desc limit 1
    ), 0)
) since
cross join lateral (
  select count(*) as rows, count(accepted_at) as accepted,
         min(held_back_at) filter (where accepted_at is null) as since
  from held_back_deletions where resource = listed.resource
) held
order by listed.place;

comment on view :"reports".freshness is 'How fresh the mirror is: one row per resource.';
comment on column :"reports".freshness.resource is 'affiliates (with their campaigns and links), referrals, campaigns, commissions (with their sales), or payouts. Primary key.';
comment on column :"reports".freshness.everything_as_of is 'Everything of it was last read as of this time; null if it never was.';
comment on column :"reports".freshness.everything_age_seconds is 'How long ago that is, in seconds.';
comment on column :"reports".freshness.changes_as_of is 'Changes of it were last read as of this time: the mirror is at least as new, but for what not_covered says.';
comment on column :"reports".freshness.changes_age_seconds is 'How long ago that is, in seconds.';
comment on column :"reports".freshness.deltas_since_everything is 'Verified runs since then that only looked for changes.';
comment on column :"reports".freshness.not_covered is 'Data that the mirror may lack nevertheless, in words; null if there is nothing.';
comment on column :"reports".freshness.rejected_records is 'The most records that one run could not store, since and including the last that read everything.';
comment on column :"reports".freshness.rejected_since is 'When the first of those runs began that rejected any.';
comment on column :"reports".freshness.deletions_held_back is 'Rows that look deleted in the API, and are not marked.';
comment on column :"reports".freshness.deletions_held_back_since is 'Since when there are some that no user accepted.';
comment on column :"reports".freshness.deletions_accepted is 'Those of them that a user accepted: the next run that reads everything marks those that are still missing.';
comment on column :"reports".freshness.last_run_id is 'The last run that was not left to another process. Refers to run_log.id.';
comment on column :"reports".freshness.last_run_state is 'How it ended, or running; see run_log.state.';
comment on column :"reports".freshness.last_run_verified is 'Whether it is known that it missed nothing.';
comment on column :"reports".freshness.last_run_started_at is 'When it began.';
comment on column :"reports".freshness.last_run_saved_at is 'When it last saved its progress.';
comment on column :"reports".freshness.last_run_saved_age_seconds is 'How long ago that is, in seconds.';
comment on column :"reports".freshness.last_run_finished_at is 'When it ended; null while it runs.';
comment on column :"reports".freshness.last_run_error_code is 'Stable code of the error that it ended with.';
comment on column :"reports".freshness.last_run_error is 'Why it did not succeed, in words. Of a failed run it may quote the API. Personal data: null unless you may read the table sync_runs.';

comment on column :"reports".freshness.failing_since is 'When a run first failed since the last verified one; null if none has.';
comment on column :"reports".freshness.unverified_since is 'When a run first ended unverified since the last verified one; null if none has.';
comment on column :"reports".freshness.last_run_unanswered_seconds is 'For how long the running run has waited for a late answer of the API, in seconds; null if it does not.';
comment on column :"reports".freshness.last_run_unanswered_attempt is 'How often it has sent that request.';

create or replace view :"reports".run_log as
select id, resource, mode, state, started_at, finished_at, heartbeat_at as last_saved_at,
       extract(epoch from coalesce(finished_at, heartbeat_at) - started_at)::double precision as duration_seconds,
       verified, requests, pages, rows_seen, rows_inserted, rows_updated, rows_unchanged, rows_rejected, rows_repeated,
       rows_seen - rows_repeated as records, rows_deleted, deletes_held_back, total_upstream, distinct_seen, attempt, reads_everything, plan, error_code,
       case when state <> 'failed' or (select has_table_privilege('sync_runs'::regclass, 'select')) then error end as error
from sync_runs;

comment on view :"reports".run_log is 'The run log: one row per run and resource, with what it read and changed and how it ended.';
select copy_comments('run_log', 'sync_runs', array['error']);
comment on column :"reports".run_log.duration_seconds is 'How long it took from its first start, in seconds; while it runs, until it last saved its progress.';
comment on column :"reports".run_log.last_saved_at is 'When it last saved its progress.';
comment on column :"reports".run_log.records is 'Records read, each once: rows_seen without rows_repeated.';

create or replace view :"reports".request_usage as
select permits.used as used_requests,
       permits.payments as used_by_payments,
       case when foreign_until > now() then foreign_requests else 0 end as foreign_requests,
       case when limit_until > now() then limit_requests end as limit_requests,
       case when paused_until > now() then paused_until end as paused_until,
       last_throttled_at,
       (select refused_at from worker_state where refused_code = 'API_UNAUTHORIZED') as secret_refused_since,
       (select refused_at from worker_state where refused_code = 'PROGRAM_CHANGED') as program_changed_since
from request_budget
cross join (
  select count(*) as used, count(*) filter (where priority = 'payments') as payments
  from request_permits where expires_at > now()
) permits;

comment on view :"reports".request_usage is 'How much of the account''s request limit is used at this moment, and what holds requests up. One row.';
comment on column :"reports".request_usage.used_requests is 'Requests that count against the limit: in flight, or answered less than a window ago.';
comment on column :"reports".request_usage.used_by_payments is 'Those of them that were made for payments; the others read.';
comment on column :"reports".request_usage.foreign_requests is 'Requests that other users of the account must have made, by the remaining requests that the API names.';
comment on column :"reports".request_usage.limit_requests is 'The limit that the API''s answers name, if it is lower than the configured one; null otherwise.';
comment on column :"reports".request_usage.paused_until is 'No request is sent before this; null if nothing is paused.';
comment on column :"reports".request_usage.last_throttled_at is 'When the API last answered 429.';
comment on column :"reports".request_usage.secret_refused_since is 'Since when the API refuses the API secret of the workers, which pauses all of them; null if it does not.';
comment on column :"reports".request_usage.program_changed_since is 'Since when the API answers the workers with none of the records that the mirror has, which pauses all of them; null if it does not.';

create or replace view :"reports".table_rows as
select 'campaigns' as table_name, count(*) filter (where _deleted_at is null) as rows, count(_deleted_at) as deleted from campaigns
union all select 'affiliates', count(*) filter (where _deleted_at is null), count(_deleted_at) from affiliates
union all select 'links', count(*) filter (where _deleted_at is null), count(_deleted_at) from links
union all select 'referrals', count(*) filter (where _deleted_at is null), count(_deleted_at) from referrals
union all select 'sales', count(*) filter (where _deleted_at is null), count(_deleted_at) from sales
union all select 'commissions', count(*) filter (where _deleted_at is null), count(_deleted_at) from commissions
union all select 'payouts', count(*) filter (where _deleted_at is null), count(_deleted_at) from payouts;

comment on view :"reports".table_rows is 'How many records of each mirrored table the API has, and how many more are kept that it no longer has.';
comment on column :"reports".table_rows.table_name is 'The table. Primary key.';
comment on column :"reports".table_rows.rows is 'Rows that the API has.';
comment on column :"reports".table_rows.deleted is 'Rows that are gone from the API, and kept here.';

create or replace view :"reports".contract_drift as
select distinct on (run.resource, drift.field, drift.kind)
       run.resource, drift.field, drift.kind, drift.found, drift.occurrences, drift.run_id
from schema_drift drift
join (
  select id, resource, max(id) filter (where reads_everything) over (partition by resource) as whole_id
  from sync_runs where state in ('succeeded', 'partial')
) run on run.id = drift.run_id and run.id >= coalesce(run.whole_id, 0)
order by run.resource, drift.field, drift.kind, drift.run_id desc;

comment on view :"reports".contract_drift is 'Differences of the API''s records from its contract, as the last syncs saw it: one row per resource, field and kind of difference.';
comment on column :"reports".contract_drift.resource is 'affiliates, referrals, campaigns, commissions or payouts. Part of the primary key.';
comment on column :"reports".contract_drift.field is 'The field, with the names of the objects around it. Part of the primary key.';
comment on column :"reports".contract_drift.kind is 'appeared: the contract does not know it. vanished: it is no longer sent. retyped: it is of another type. Part of the primary key.';
comment on column :"reports".contract_drift.found is 'An example of the type that was found; no value.';
comment on column :"reports".contract_drift.occurrences is 'How often it was noticed: once for each record, and again if the run read the record again.';
comment on column :"reports".contract_drift.run_id is 'The last run that noticed it. Refers to run_log.id.';
