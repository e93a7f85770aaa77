-- Why: what the command status, the status page, the metrics and the alerts show is defined once, where an analyst can
-- read it too: requests to the program, payments by state, rows, and where records differ from the contract.
-- Lock taken: none on anything that exists (new views). Breaking: no.

create view :"reports".request_usage as
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

-- A worker takes up what is due within seconds, and a claim of one that was killed ends within a minute. While the program
-- is down, a worker claims nothing between two tries, which are a minute apart at most.
create view :"reports".payment_states as
select state,
       count(*) as requests,
       min(requested_at) as oldest_requested_at,
       max(finished_at) as last_finished_at,
       count(*) filter (where needs_attention) as needing_attention,
       min(coalesce(finished_at, next_attempt_at)) filter (where needs_attention) as needing_attention_since
from (
  select state, requested_at, finished_at, next_attempt_at,
         case state
           when 'failed' then not exists (
             select from commission_updates newer
             where newer.commission_id = asked.commission_id and newer.id > asked.id
               and (newer.action = 'due') = (asked.action = 'due')
               and newer.state not in ('superseded', 'cancelled'))
           when 'pending' then next_attempt_at < now() - interval '5 minutes'
             and not exists (
               select from commission_updates older
               where older.commission_id = asked.commission_id and older.state = 'pending' and older.id < asked.id)
             and not exists (
               select from commission_updates claimed
               where claimed.state = 'pending' and claimed.claimed_until > now())
             and not exists (
               select from commission_updates tried
               join commission_update_attempts attempt on attempt.update_id = tried.id
               where tried.state = 'pending' and attempt.sent_at > now() - interval '5 minutes')
           else false
         end as needs_attention
  from commission_updates asked
) judged
group by state;

create view :"reports".table_rows as
select 'campaigns' as table_name, count(*) filter (where _deleted_at is null) as rows, count(_deleted_at) as deleted from campaigns
union all select 'affiliates', count(*) filter (where _deleted_at is null), count(_deleted_at) from affiliates
union all select 'links', count(*) filter (where _deleted_at is null), count(_deleted_at) from links
union all select 'referrals', count(*) filter (where _deleted_at is null), count(_deleted_at) from referrals
union all select 'sales', count(*) filter (where _deleted_at is null), count(_deleted_at) from sales
union all select 'commissions', count(*) filter (where _deleted_at is null), count(_deleted_at) from commissions;

create view :"reports".contract_drift as
select distinct on (run.resource, drift.field, drift.kind)
       run.resource, drift.field, drift.kind, drift.found, drift.occurrences, drift.run_id
from schema_drift drift
join (
  select id, resource, max(id) filter (where reads_everything) over (partition by resource) as whole_id
  from sync_runs where state in ('succeeded', 'partial')
) run on run.id = drift.run_id and run.id >= coalesce(run.whole_id, 0)
order by run.resource, drift.field, drift.kind, drift.run_id desc;

create view :"reports".commission_coverage as
select setting, is_served, is_used, found_at, asked_at, problem,
       case
         when is_used and exists (
           select from sync_runs where resource = 'commissions' and verified and reads_everything
         ) then (select count(*) from commission_differences where not is_recent)
       end as differences,
       tracked.*
from optional_lists
cross join lateral (
  select count(next_poll_at) as tracked,
         count(*) filter (where next_poll_at <= now() and not is_used) as due_polls,
         count(*) filter (where last_error is not null) as unanswered,
         count(*) filter (where next_poll_at is null) as gone,
         min(next_poll_at) as next_poll_at
  from tracked_commissions
) tracked
where resource = 'commissions';

comment on view :"reports".request_usage is 'How much of the account''s request limit is used at this moment, and what holds requests up. One row.';
comment on column :"reports".request_usage.used_requests is 'Requests that count against the limit: in flight, or answered less than a window ago.';
comment on column :"reports".request_usage.used_by_payments is 'Those of them that were made for payments; the others read.';
comment on column :"reports".request_usage.foreign_requests is 'Requests that somebody else on the account must have made, by what the program says remains.';
comment on column :"reports".request_usage.limit_requests is 'The limit that the program''s answers name, where it is lower than the configured one; null otherwise.';
comment on column :"reports".request_usage.paused_until is 'No request is sent before this; null where nothing is paused.';
comment on column :"reports".request_usage.last_throttled_at is 'When the program last answered 429.';
comment on column :"reports".request_usage.secret_refused_since is 'Since when the program refuses the API secret of the workers, which pauses all of them; null where it does not.';
comment on column :"reports".request_usage.program_changed_since is 'Since when the API answers the workers with none of the records that the mirror has, which pauses all of them; null if it does not.';

comment on view :"reports".payment_states is 'How many requests for payment are in each state, and which of them somebody should look at.';
comment on column :"reports".payment_states.state is 'The state; see commission_ledger.state. Primary key.';
comment on column :"reports".payment_states.requests is 'How many requests are in it.';
comment on column :"reports".payment_states.oldest_requested_at is 'When the oldest of them was asked for.';
comment on column :"reports".payment_states.last_finished_at is 'When the last of them ended.';
comment on column :"reports".payment_states.needing_attention is 'Of failed ones: those without a newer request for the same value of their commission, superseded and cancelled ones aside. Of pending ones: those that are due for five minutes, while no process works on any. Of other states: none.';
comment on column :"reports".payment_states.needing_attention_since is 'Since when the first of those failed, or is due.';

comment on view :"reports".table_rows is 'How many records of each mirrored table the program has, and how many more are kept that it no longer has.';
comment on column :"reports".table_rows.table_name is 'The table. Primary key.';
comment on column :"reports".table_rows.rows is 'Rows that the program has.';
comment on column :"reports".table_rows.deleted is 'Rows that are gone from the program, and kept here.';

comment on view :"reports".contract_drift is 'Where the program''s records differ from its contract, as the last syncs saw it: one row per resource, field and kind of difference.';
comment on column :"reports".contract_drift.resource is 'affiliates, referrals, campaigns or commissions. Part of the primary key.';
comment on column :"reports".contract_drift.field is 'The field, with the names of the objects around it. Part of the primary key.';
comment on column :"reports".contract_drift.kind is 'appeared: the contract does not know it. vanished: it is no longer sent. retyped: it is of another type. Part of the primary key.';
comment on column :"reports".contract_drift.found is 'An example of the type that was found; no value.';
comment on column :"reports".contract_drift.occurrences is 'How often it was noticed: once for each record, and again where the run read the record again.';
comment on column :"reports".contract_drift.run_id is 'The last run that noticed it. Refers to run_log.id.';

comment on view :"reports".commission_coverage is 'Whether the mirror has all commissions or only the known ones, and how those are kept up to date. One row.';
comment on column :"reports".commission_coverage.setting is 'OPTIONAL_LISTS, as it was last configured of commissions: auto, on or off.';
comment on column :"reports".commission_coverage.is_served is 'Whether the program lists its commissions, as it last said; null where it was never asked, or never answered in a way that says so.';
comment on column :"reports".commission_coverage.is_used is 'Whether commissions and sales are read from that list, and so all of them are here; otherwise the known ones are.';
comment on column :"reports".commission_coverage.found_at is 'When the program said so.';
comment on column :"reports".commission_coverage.asked_at is 'When it was last asked.';
comment on column :"reports".commission_coverage.problem is 'Why its last answer decided nothing; null where it did.';
comment on column :"reports".commission_coverage.differences is 'Affiliates and currencies whose sums of commissions are not those that the program reports, recent ones left out; null where the mirror need not have every commission.';
comment on column :"reports".commission_coverage.tracked is 'Known commissions that are asked for one by one.';
comment on column :"reports".commission_coverage.due_polls is 'Those of them that are to be asked for now; none where the program lists its commissions.';
comment on column :"reports".commission_coverage.unanswered is 'Those whose last question was not answered.';
comment on column :"reports".commission_coverage.gone is 'Known commissions that the program no longer has.';
comment on column :"reports".commission_coverage.next_poll_at is 'When the next of them is asked for.';
