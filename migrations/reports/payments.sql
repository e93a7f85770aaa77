-- The payment ledger, what is to be paid, and how far both are. Masks as in records.sql.

create or replace view :"reports".commission_ledger as
select request,
       commission_id,
       affiliate_id,
       action,
       asked,
       state,
       requested_at,
       finished_at,
       amount,
       currency,
       paid_at_before,
       paid_at_after,
       due_at_before,
       due_at_after,
       puts,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then affiliate_name end as affiliate_name,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then affiliate_email end as affiliate_email,
       case when (select has_table_privilege('commission_updates'::regclass, 'select')) then batch end as batch,
       case when (select has_table_privilege('commission_updates'::regclass, 'select')) then outcome end as outcome,
       case when (select has_table_privilege('commission_updates'::regclass, 'select')) then note end as note,
       case when (select has_table_privilege('commission_updates'::regclass, 'select')) then reason end as reason,
       case when (select has_table_privilege('commission_updates'::regclass, 'select')) then requested_by end
         as requested_by,
       case when state in ('conflict', 'not_found', 'rejected', 'failed') then (
         select min(newer.id) from commission_updates newer
         where coalesce(newer.commission_id, newer.payout_id) = coalesce(line.commission_id, line.payout_id)
           and newer.id > line.request
           and (newer.action = 'due') = (line.action = 'due')
           and newer.state not in ('superseded', 'cancelled'))
       end as followed_by,
       payout_id,
       commissions,
       commission_ids
from commission_ledger line;

comment on view :"reports".commission_ledger is 'The payment ledger: one row per change of a commission, and per payout to be paid, that was asked of the API, and what became of it. Nothing in it is ever deleted.';
select copy_comments('commission_ledger', 'commission_ledger',
  array['batch', 'outcome', 'note', 'reason', 'requested_by'], 'commission_updates');
comment on column :"reports".commission_ledger.affiliate_name is 'Name of the affiliate. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".commission_ledger.affiliate_email is 'Email address of the affiliate. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".commission_ledger.state is 'pending, or how it ended: applied (the API has it as asked), unchanged (it was so already), conflict (what was expected did not hold, or its sale was refunded), not_found, rejected (refused by the API), failed (tried often enough without success), superseded (dropped for a newer request), cancelled.';
comment on column :"reports".commission_ledger.followed_by is 'Of a request that ended as conflict, not_found, rejected or failed: the next one for the same value of its commission, superseded and cancelled ones aside. Null: there is none, and it needs attention.';

create or replace view :"reports".commission_aging as
select date_trunc('month', payable_at at time zone 'UTC')::date as month,
       currency,
       count(*) as commissions,
       coalesce(sum(amount) filter (where stage = 'paid'), 0)::numeric(38, 0) as paid,
       coalesce(sum(amount) filter (where stage = 'due'), 0)::numeric(38, 0) as due,
       coalesce(sum(amount) filter (where stage = 'overdue'), 0)::numeric(38, 0) as overdue,
       coalesce(sum(amount) filter (where stage = 'pending'), 0)::numeric(38, 0) as pending,
       coalesce(sum(amount) filter (where stage = 'withheld'), 0)::numeric(38, 0) as withheld
from commission_stages
group by date_trunc('month', payable_at at time zone 'UTC')::date, currency;

comment on view :"reports".commission_aging is 'How old the commissions are and what became of them: sums by the month from which they are payable, and currency. Without voided ones. The five sums add up to all.';
comment on column :"reports".commission_aging.month is 'First day of the month (UTC) from which the commissions are payable; if the API sent no due_at, of the month in which they were created. Part of the primary key.';
comment on column :"reports".commission_aging.currency is 'Currency code of every sum in the row, in capitals. Part of the primary key.';
comment on column :"reports".commission_aging.commissions is 'How many commissions.';
comment on column :"reports".commission_aging.paid is 'Sum of the amounts that are paid, in the unit of commissions.amount, like the others.';
comment on column :"reports".commission_aging.due is 'Sum of the amounts that are to be paid now, and have been for 30 days at most.';
comment on column :"reports".commission_aging.overdue is 'Sum of the amounts that are to be paid now, and have been for more than 30 days.';
comment on column :"reports".commission_aging.pending is 'Sum of the amounts that are payable later.';
comment on column :"reports".commission_aging.withheld is 'Sum of the amounts that are due and not to be paid now: a request waits in the payment ledger, a payment for them failed there, the payment ledger has them as paid, their sale was refunded in full, or they have no currency.';

create or replace view :"reports".payouts_due as
select affiliate_id,
       currency,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then affiliate_name end as affiliate_name,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then affiliate_email end as affiliate_email,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then payout_email end as payout_email,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then wise_email end as wise_email,
       has_payout_address,
       count(*) as commissions,
       sum(amount)::numeric(38, 0) as amount,
       -- As src/reports/read-payable.ts judges it for the command, also for a day to come.
       sum(amount) > 0 and has_payout_address is not false as is_transferable,
       min(due_at) as due_since
from unpaid_commissions payable
where is_payable
group by affiliate_id, currency, payable.affiliate_name, payable.affiliate_email, payable.payout_email,
         payable.wise_email, has_payout_address;

comment on view :"reports".payouts_due is 'The balance of each affiliate: one row per affiliate and currency, of the commissions that are due and that nothing speaks against. What is to be transferred now are the rows with is_transferable.';
comment on column :"reports".payouts_due.affiliate_id is 'The affiliate; null if the sale names none. Part of the primary key. Refers to affiliates.id.';
comment on column :"reports".payouts_due.currency is 'Currency code of the amount, in capitals. Part of the primary key.';
comment on column :"reports".payouts_due.affiliate_name is 'First and last name. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.affiliate_email is 'Email address. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.payout_email is 'Address to which the affiliate is paid; null if there is none. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.wise_email is 'Address of the affiliate at another payout provider; null if there is none. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.has_payout_address is 'Whether the affiliate has one of these two addresses; false without an affiliate, null if the mirror keeps no addresses of the affiliate.';
comment on column :"reports".payouts_due.commissions is 'How many commissions.';
comment on column :"reports".payouts_due.amount is 'Sum of their amounts, in the unit of commissions.amount; negative if more was clawed back than earned.';
comment on column :"reports".payouts_due.is_transferable is 'Whether the amount is to be transferred: it is more than zero, and the affiliate is not known to lack a payout address.';
comment on column :"reports".payouts_due.due_since is 'Since when the oldest of them is payable; null if the API sends no due_at.';

-- A worker takes up what is due within seconds, and a claim of one that was killed ends within a minute. While the program
-- is down, a worker claims nothing between two tries, which are a minute apart at most.
create or replace view :"reports".payment_states as
select state,
       count(*) as requests,
       min(requested_at) as oldest_requested_at,
       max(finished_at) as last_finished_at,
       count(*) filter (where needs_attention) as needing_attention,
       min(coalesce(finished_at, next_attempt_at)) filter (where needs_attention) as needing_attention_since
from (
  select state, requested_at, finished_at, next_attempt_at,
         case
           when state in ('conflict', 'not_found', 'rejected', 'failed') then exists (
             select from :"reports".commission_ledger line
             where line.request = asked.id and line.followed_by is null)
           -- What is asked once for all requests comes first: it spares the rest while any process works.
           when state = 'pending' then next_attempt_at < now() - interval '5 minutes'
             and not exists (
               select from commission_updates claimed
               where claimed.state = 'pending' and claimed.claimed_until > now())
             and not exists (
               select from commission_updates tried
               join commission_update_attempts attempt on attempt.update_id = tried.id
               where tried.state = 'pending' and attempt.sent_at > now() - interval '5 minutes')
             and not exists (
               select from commission_updates older
               where coalesce(older.commission_id, older.payout_id) = coalesce(asked.commission_id, asked.payout_id)
                 and older.state = 'pending' and older.id < asked.id)
             and (asked.action = 'due' or payout_under_way(asked.commission_id) is null)
           else false
         end as needs_attention
  from commission_updates asked
) judged
group by state;

comment on view :"reports".payment_states is 'The number of payment requests in each state, and of those that need attention.';
comment on column :"reports".payment_states.state is 'The state; see commission_ledger.state. Primary key.';
comment on column :"reports".payment_states.requests is 'How many requests are in it.';
comment on column :"reports".payment_states.oldest_requested_at is 'When the oldest of them was asked for.';
comment on column :"reports".payment_states.last_finished_at is 'When the last of them ended.';
comment on column :"reports".payment_states.needing_attention is 'Of those that ended as conflict, not_found, rejected or failed: those that no newer request for the same value of their commission or payout followed (commission_ledger.followed_by). Of pending ones: those that are due for five minutes, while no process works on any and no payout that is being paid holds them up. Of other states: none.';
comment on column :"reports".payment_states.needing_attention_since is 'Since when the first of those ended, or is due.';

create or replace view :"reports".commission_coverage as
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

comment on view :"reports".commission_coverage is 'Whether the mirror has all commissions or only the known ones, and how those are kept up to date. One row.';
comment on column :"reports".commission_coverage.setting is 'OPTIONAL_LISTS, as it was last configured of commissions: auto, on or off.';
comment on column :"reports".commission_coverage.is_served is 'Whether the API lists its commissions, as it last said; null if it was never asked, or never answered in a way that says so.';
comment on column :"reports".commission_coverage.is_used is 'Whether commissions and sales are read from that list, and so all of them are here; otherwise the known ones are.';
comment on column :"reports".commission_coverage.found_at is 'When the API said so.';
comment on column :"reports".commission_coverage.asked_at is 'When it was last asked.';
comment on column :"reports".commission_coverage.problem is 'Why its last answer decided nothing; null if it did.';
comment on column :"reports".commission_coverage.differences is 'Affiliates and currencies whose sums of commissions are not those that the API reports, recent ones left out; null if the mirror need not have every commission.';
comment on column :"reports".commission_coverage.tracked is 'Known commissions that are asked for one by one.';
comment on column :"reports".commission_coverage.due_polls is 'Those of them that are to be asked for now; none if the API lists its commissions.';
comment on column :"reports".commission_coverage.unanswered is 'Those whose last question was not answered.';
comment on column :"reports".commission_coverage.gone is 'Known commissions that the API no longer has.';
comment on column :"reports".commission_coverage.next_poll_at is 'When the next of them is asked for.';
