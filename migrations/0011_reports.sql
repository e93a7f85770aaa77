-- Why: what analysts and their tools read: views that answer questions, apart from the bookkeeping, with personal data
-- for those alone who may see it.
-- Lock taken: share update exclusive on referrals, for a moment (create statistics). Breaking: no.
--
-- :"reports" is the schema of these views (<MIRROR_SCHEMA>_reports); names without a schema are the mirror's own.
--
-- Decisions
-- * A view shows living rows only. A payment ledger and a run log have no rows that could be gone.
-- * Stable: a later migration changes a view with `create or replace view`, which keeps its grants and refuses to rename,
--   retype or drop a column. Columns are added at the end.
-- * One set of views. A column with personal data is null unless the role that asks may read the table that it comes
--   from. No right of its own, no marker that could be granted by accident: whoever cannot read the table cannot read it
--   here either, and a view that somebody makes over these asks the same question of its own reader. The question has
--   a subquery of its own, so it is asked once per statement and not once per row.
-- * Null, and not a cut or hashed address: half an address is half a person, and joins have their identifiers.
-- * What the program sends beyond its contract (_extra, the rest of a coupon) is left out, since nobody knows what it holds.
--   Tokens and addresses of links and coupons count as personal: they are made of the affiliate's name.
-- * Comments carry the keys, since views have none and the mirrored tables have no foreign keys: "Primary key.",
--   "Part of the primary key.", "Refers to affiliates.id.".

create view :"reports".campaigns as
select id,
       created_at,
       updated_at,
       name,
       url,
       private,
       commission_percent,
       days_until_commissions_are_due,
       reward_type,
       commission_amount_cents,
       max_commission_period_months,
       _changed_at
from campaigns
where _deleted_at is null;

create view :"reports".affiliates as
select id,
       created_at,
       updated_at,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then first_name end as first_name,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then last_name end as last_name,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then email end as email,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then payout_email end as payout_email,
       confirmed_at,
       payout_email_confirmed_at,
       receive_new_commission_notifications,
       sign_in_count,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then unconfirmed_email end
         as unconfirmed_email,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then processor_customer_id end
         as processor_customer_id,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then processor_account_id end
         as processor_account_id,
       visitors,
       leads,
       conversions,
       state,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then wise_email end as wise_email,
       wise_email_confirmed_at,
       campaign_id,
       _changed_at
from affiliates
where _deleted_at is null;

create view :"reports".links as
select id,
       affiliate_id,
       case when (select has_table_privilege('links'::regclass, 'select')) then url end as url,
       case when (select has_table_privilege('links'::regclass, 'select')) then token end as token,
       visitors,
       leads,
       conversions,
       _changed_at
from links
where _deleted_at is null;

create view :"reports".referrals as
select id,
       created_at,
       updated_at,
       affiliate_id,
       link_id,
       processor_account_id,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then processor_customer_id end
         as processor_customer_id,
       conversion_state,
       deactivated_at,
       expires_at,
       customer_platform,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then customer_id end as customer_id,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then customer_name end as customer_name,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then customer_email end as customer_email,
       visits,
       became_lead_at,
       became_conversion_at,
       coupon ->> 'id' as coupon_id,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then coupon ->> 'token' end as coupon_token,
       _changed_at
from referrals
where _deleted_at is null;

create view :"reports".sales as
select id, created_at, updated_at, referral_id, affiliate_id, currency, charged_at, processor_account_id,
       processor_charge_id, invoiced_at, charge_amount_cents, refund_amount_cents, tax_amount_cents, sale_amount_cents,
       _changed_at
from sales
where _deleted_at is null;

create view :"reports".commissions as
select commission.id,
       commission.created_at,
       commission.updated_at,
       commission.campaign_id,
       commission.sale_id,
       commission.amount,
       commission.currency,
       commission.due_at,
       commission.paid_at,
       commission.state,
       commission.voided_at,
       sale.affiliate_id,
       sale.referral_id,
       commission._changed_at
from commissions commission
left join sales sale on sale.id = commission.sale_id
where commission._deleted_at is null;

-- The program's own totals as commission_totals reads them (migrations/0009_commission_totals.sql).
create view :"reports".affiliate_balances as
select affiliate.id as affiliate_id,
       upper(stats.currency collate "C") as currency,
       sum(jsonb_path_query_first(stats.figures, '$.unpaid.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0))
         ::numeric(38, 0) as unpaid_cents,
       sum(jsonb_path_query_first(stats.figures, '$.due.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0))
         ::numeric(38, 0) as due_cents,
       sum(jsonb_path_query_first(stats.figures, '$.paid.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0))
         ::numeric(38, 0) as paid_cents,
       sum(jsonb_path_query_first(stats.figures, '$.total.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0))
         ::numeric(38, 0) as total_cents,
       sum(jsonb_path_query_first(stats.figures, '$.gross_revenue.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0))
         ::numeric(38, 0) as gross_revenue_cents,
       sum(jsonb_path_query_first(stats.figures, '$.net_revenue.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0))
         ::numeric(38, 0) as net_revenue_cents
from affiliates affiliate
cross join lateral jsonb_each(
  case jsonb_typeof(affiliate.commission_stats -> 'currencies')
    when 'object' then affiliate.commission_stats -> 'currencies' else '{}'
  end
) as stats (currency, figures)
where affiliate._deleted_at is null
group by affiliate.id, upper(stats.currency collate "C");

create view :"reports".affiliate_performance as
with money as (
  select affiliate_id,
         currency,
         sum(sales)::bigint as sales,
         sum(charged_cents) as charged_cents,
         sum(refunded_cents) as refunded_cents,
         sum(revenue_cents) as revenue_cents,
         sum(known_commissions)::bigint as known_commissions,
         sum(known_total) as known_total,
         sum(known_paid) as known_paid,
         sum(known_unpaid) as known_unpaid
  from (
    select affiliate_id,
           upper(currency collate "C") as currency,
           count(*) as sales,
           sum(charge_amount_cents) as charged_cents,
           sum(refund_amount_cents) as refunded_cents,
           sum(sale_amount_cents) as revenue_cents,
           null::bigint as known_commissions,
           null::numeric as known_total,
           null::numeric as known_paid,
           null::numeric as known_unpaid
    from sales
    where _deleted_at is null
    group by affiliate_id, upper(currency collate "C")
    union all
    select affiliate_id, currency, null, null, null, null, known_commissions, known_total, known_paid, known_unpaid
    from commission_totals
    where known_commissions > 0
  ) summed
  group by affiliate_id, currency
)
select affiliate.id as affiliate_id,
       money.currency,
       case when (select has_table_privilege('affiliates'::regclass, 'select'))
         then nullif(btrim(concat_ws(' ', affiliate.first_name, affiliate.last_name)), '') end as affiliate_name,
       affiliate.campaign_id,
       affiliate.visitors,
       affiliate.leads,
       affiliate.conversions,
       round(affiliate.leads::numeric / nullif(affiliate.visitors, 0), 4) as lead_rate,
       round(affiliate.conversions::numeric / nullif(affiliate.visitors, 0), 4) as conversion_rate,
       coalesce(money.sales, 0) as sales,
       coalesce(money.charged_cents, 0)::numeric(38, 0) as charged_cents,
       coalesce(money.refunded_cents, 0)::numeric(38, 0) as refunded_cents,
       coalesce(money.revenue_cents, 0)::numeric(38, 0) as revenue_cents,
       coalesce(money.known_commissions, 0) as commissions,
       coalesce(money.known_total, 0)::numeric(38, 0) as commission_amount,
       coalesce(money.known_paid, 0)::numeric(38, 0) as paid_amount,
       coalesce(money.known_unpaid, 0)::numeric(38, 0) as unpaid_amount
from affiliates affiliate
left join money on money.affiliate_id = affiliate.id
where affiliate._deleted_at is null;

create view :"reports".conversion_events as
select referral_id,
       observed_at,
       affiliate_id,
       link_id,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then customer_email end as customer_email,
       from_state,
       converted_at,
       is_exact,
       run_id
from conversion_events
where _deleted_at is null;

-- Without it the planner takes every row for a day of its own, and does without parallel workers. It costs nothing but a
-- moment of ANALYZE, where indexes would cost every load.
create statistics if not exists referrals_days
  on (date_bin('1 day', created_at, '2000-01-01Z')), (date_bin('1 day', became_lead_at, '2000-01-01Z')) from referrals;

comment on statistics referrals_days is 'On how many days referrals were created, and became leads.';

-- Each source is summed up by itself first, and the referrals are read once for two of the columns: no list of a million
-- moments is put together. date_bin, since a day of UTC is always as long as another, and asking for the day in a time
-- zone costs a million times as much as it looks.
create view :"reports".referral_funnel_daily as
with referred as (
  select date_bin('1 day', created_at, '2000-01-01Z') as created,
         date_bin('1 day', became_lead_at, '2000-01-01Z') as lead,
         count(*) as referrals
  from referrals
  where _deleted_at is null
  group by date_bin('1 day', created_at, '2000-01-01Z'), date_bin('1 day', became_lead_at, '2000-01-01Z')
), known_leads as (
  -- Where the program does not state when, or no more: the first that it stated, or else the first time that the mirror
  -- saw it happen. One that converts between two syncs was a lead in between; one that falls back from a conversion is no
  -- new lead.
  select coalesce(
           (array_agg(history.before ->> 'became_lead_at' order by history.id)
              filter (where history.before ->> 'became_lead_at' is not null))[1]::timestamptz,
           min(history.observed_at) filter (where history.before ->> 'conversion_state' = 'visitor'
                                              and history.after ->> 'conversion_state' in ('lead', 'conversion'))
         ) as at
  from record_history history
  join referrals referral on referral.id = history.record_id
  where history.table_name = 'referrals'
    and (history.before ? 'became_lead_at'
         or history.before ->> 'conversion_state' = 'visitor'
            and history.after ->> 'conversion_state' in ('lead', 'conversion'))
    and referral._deleted_at is null
    and referral.became_lead_at is null
  group by history.record_id
), counted as (
  select created as day, sum(referrals) as new_referrals, 0 as leads, 0 as conversions
  from referred
  where created is not null
  group by created
  union all
  select lead, 0, sum(referrals), 0
  from referred
  where lead is not null
  group by lead
  union all
  select date_bin('1 day', at, '2000-01-01Z'), 0, count(*), 0
  from known_leads
  where at is not null
  group by date_bin('1 day', at, '2000-01-01Z')
  union all
  select date_bin('1 day', converted_at, '2000-01-01Z'), 0, 0, count(*)
  from :"reports".conversion_events
  group by date_bin('1 day', converted_at, '2000-01-01Z')
)
select (day at time zone 'UTC')::date as day,
       sum(new_referrals)::bigint as new_referrals,
       sum(leads)::bigint as leads,
       sum(conversions)::bigint as conversions
from counted
group by counted.day;

create view :"reports".commission_ledger as
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
         as requested_by
from commission_ledger;

create view :"reports".commission_aging as
with aged as (
  select coalesce(due_at, created_at) as payable_at, upper(currency collate "C") as currency, amount, 'paid' as stage
  from commissions
  where _deleted_at is null and voided_at is null and state is distinct from 'voided' and paid_at is not null
  union all
  select coalesce(commission.due_at, commission.created_at),
         unpaid.currency,
         unpaid.amount,
         case
           when not unpaid.is_due then 'pending'
           when unpaid.withheld is not null then 'withheld'
           -- Not 30 days, which are an hour more or less across a change of the clocks in the session's time zone.
           when coalesce(commission.due_at, commission.created_at) < now() - interval '720 hours' then 'overdue'
           else 'due'
         end
  from unpaid_commissions unpaid
  join commissions commission on commission.id = unpaid.commission_id
)
select date_trunc('month', payable_at at time zone 'UTC')::date as month,
       currency,
       count(*) as commissions,
       coalesce(sum(amount) filter (where stage = 'paid'), 0)::numeric(38, 0) as paid,
       coalesce(sum(amount) filter (where stage = 'due'), 0)::numeric(38, 0) as due,
       coalesce(sum(amount) filter (where stage = 'overdue'), 0)::numeric(38, 0) as overdue,
       coalesce(sum(amount) filter (where stage = 'pending'), 0)::numeric(38, 0) as pending,
       coalesce(sum(amount) filter (where stage = 'withheld'), 0)::numeric(38, 0) as withheld
from aged
group by date_trunc('month', payable_at at time zone 'UTC')::date, currency;

create view :"reports".payouts_due as
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

create view :"reports".freshness as
select listed.resource,
       whole.started_at as everything_as_of,
       floor(extract(epoch from now() - whole.started_at))::bigint as everything_age_seconds,
       fresh.started_at as changes_as_of,
       floor(extract(epoch from now() - fresh.started_at))::bigint as changes_age_seconds,
       deltas.runs as deltas_since_everything,
       nullif(concat_ws('; ',
         case when not list.is_used
           then 'the program does not list its ' || listed.resource || ': only known ones are here' end,
         case when whole.id is null and list.is_used is not false
           then 'everything was never read' end,
         case when fresh.id > whole.id
           then 'since everything was read only changes were looked for, and a delta does not see all of them' end,
         case when since.rows_rejected > 0 then 'records that could not be stored: ' || since.rows_rejected end,
         case when held.rows > 0
           then 'rows that seem to be gone from the program, and are not marked deleted: ' || held.rows end
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
         as last_run_error
from (values (1, 'affiliates'), (2, 'referrals'), (3, 'campaigns'), (4, 'commissions')) as listed (place, resource)
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

create view :"reports".run_log as
select id, resource, mode, state, started_at, finished_at, heartbeat_at as last_saved_at,
       extract(epoch from coalesce(finished_at, heartbeat_at) - started_at)::double precision as duration_seconds,
       verified, requests, pages, rows_seen, rows_inserted, rows_updated, rows_unchanged, rows_rejected, rows_repeated,
       rows_seen - rows_repeated as records, rows_deleted, deletes_held_back, total_upstream, distinct_seen, attempt, reads_everything, plan, error_code,
       case when state <> 'failed' or (select has_table_privilege('sync_runs'::regclass, 'select')) then error end as error
from sync_runs;

comment on view :"reports".campaigns is 'Campaigns of the affiliate program: what affiliates are recruited for.';
comment on view :"reports".affiliates is 'Affiliates: the people who refer customers.';
comment on view :"reports".links is 'Tracked addresses of the affiliates, with their counters.';
comment on view :"reports".referrals is 'Referrals: the visitors, leads and customers that affiliates brought.';
comment on view :"reports".sales is 'Charges of referred customers: all that earned a commission where the program lists its commissions, else those of the known ones (see freshness).';
comment on view :"reports".commissions is 'Commissions of the affiliates: all of them where the program lists them, else the known ones (see freshness). Voided ones are among them.';
comment on view :"reports".conversion_events is 'Each conversion of a referral: those that the mirror saw happen, and those from before whose time the program states.';
comment on view :"reports".commission_ledger is 'The payment ledger: one row per change of a commission that was asked of the program, and what became of it. Nothing in it is ever deleted.';

comment on view :"reports".affiliate_balances is 'The program''s own totals of each affiliate by currency, as last sent: one row per affiliate and currency.';
comment on column :"reports".affiliate_balances.affiliate_id is 'The affiliate. Part of the primary key. Refers to affiliates.id.';
comment on column :"reports".affiliate_balances.currency is 'Currency code of every sum in the row, in capitals. Part of the primary key.';
comment on column :"reports".affiliate_balances.unpaid_cents is 'Commissions that are not paid, due or not, in the unit of sales.charge_amount_cents; null where the program sends no such total, as in the other columns.';
comment on column :"reports".affiliate_balances.due_cents is 'Commissions that are payable now, in the same unit.';
comment on column :"reports".affiliate_balances.paid_cents is 'Commissions that are paid, in the same unit.';
comment on column :"reports".affiliate_balances.total_cents is 'All commissions, in the same unit.';
comment on column :"reports".affiliate_balances.gross_revenue_cents is 'What the affiliate''s customers were charged, in the same unit.';
comment on column :"reports".affiliate_balances.net_revenue_cents is 'What is left of it after refunds and taxes, in the same unit.';

comment on view :"reports".affiliate_performance is 'What each affiliate brought: one row per affiliate and currency, and one with a null currency where there are no sales and commissions. Counters and rates are repeated in each row of an affiliate: add up money by currency, and counters over one row of each affiliate. Sales and commissions whose affiliate is gone from the program, or not named, are in no row: for all of them, add up sales and commissions.';
comment on column :"reports".affiliate_performance.affiliate_id is 'The affiliate. Part of the primary key. Refers to affiliates.id.';
comment on column :"reports".affiliate_performance.currency is 'Currency code of every sum in the row, in capitals; null where the affiliate has no sales and commissions, and of those that have none. Part of the primary key.';
comment on column :"reports".affiliate_performance.affiliate_name is 'First and last name. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".affiliate_performance.campaign_id is 'Campaign of the affiliate. Refers to campaigns.id.';
comment on column :"reports".affiliate_performance.visitors is 'Visitors referred so far, as the program counts them (leads and conversions included).';
comment on column :"reports".affiliate_performance.leads is 'Leads referred so far, as the program counts them (conversions included).';
comment on column :"reports".affiliate_performance.conversions is 'Conversions referred so far, as the program counts them.';
comment on column :"reports".affiliate_performance.lead_rate is 'Leads per visitor, from 0 to 1; null without visitors.';
comment on column :"reports".affiliate_performance.conversion_rate is 'Conversions per visitor, from 0 to 1; null without visitors.';
comment on column :"reports".affiliate_performance.sales is 'How many sales to the affiliate''s customers the mirror knows.';
comment on column :"reports".affiliate_performance.charged_cents is 'What was charged for them, in the unit of sales.charge_amount_cents.';
comment on column :"reports".affiliate_performance.refunded_cents is 'What was refunded, in the unit of sales.charge_amount_cents.';
comment on column :"reports".affiliate_performance.revenue_cents is 'What commissions are calculated from, in the unit of sales.charge_amount_cents.';
comment on column :"reports".affiliate_performance.commissions is 'How many commissions of the affiliate the mirror knows; without voided ones.';
comment on column :"reports".affiliate_performance.commission_amount is 'Sum of their amounts, in the unit of commissions.amount.';
comment on column :"reports".affiliate_performance.paid_amount is 'Sum of the amounts of those that are paid.';
comment on column :"reports".affiliate_performance.unpaid_amount is 'Sum of the amounts of those that are not paid.';

comment on view :"reports".referral_funnel_daily is 'What happened on each UTC day: one row per day on which anything did. A lead or a conversion counts on the day on which it happened, whenever the referral was new.';
comment on column :"reports".referral_funnel_daily.day is 'The day, in UTC. Primary key.';
comment on column :"reports".referral_funnel_daily.new_referrals is 'Referrals that were created.';
comment on column :"reports".referral_funnel_daily.leads is 'Referrals that became a lead, also those that went from visitor to conversion at once: when the program states it, else when the mirror first saw it happen. A conversion that falls back to a lead is no new one. Those that were leads when first seen, and whose time it does not state, are in no day.';
comment on column :"reports".referral_funnel_daily.conversions is 'Conversions, as in conversion_events.';

comment on view :"reports".commission_aging is 'How old the commissions are and what became of them: sums by the month from which they are payable, and currency. Without voided ones. The five sums add up to all.';
comment on column :"reports".commission_aging.month is 'First day of the month (UTC) from which the commissions are payable; where the program sent no due_at, of the month in which they were created. Part of the primary key.';
comment on column :"reports".commission_aging.currency is 'Currency code of every sum in the row, in capitals. Part of the primary key.';
comment on column :"reports".commission_aging.commissions is 'How many commissions.';
comment on column :"reports".commission_aging.paid is 'Sum of the amounts that are paid, in the unit of commissions.amount, like the others.';
comment on column :"reports".commission_aging.due is 'Sum of the amounts that are to be paid now, and have been for 30 days at most.';
comment on column :"reports".commission_aging.overdue is 'Sum of the amounts that are to be paid now, and have been for more than 30 days.';
comment on column :"reports".commission_aging.pending is 'Sum of the amounts that are payable later.';
comment on column :"reports".commission_aging.withheld is 'Sum of the amounts that are due and not to be paid now: a request waits in the payment ledger, a payment for them failed there, the payment ledger has them as paid, their sale was refunded in full, or they have no currency.';

comment on view :"reports".payouts_due is 'The balance of each affiliate: one row per affiliate and currency, of the commissions that are due and that nothing speaks against. What is to be transferred now are the rows with is_transferable.';
comment on column :"reports".payouts_due.affiliate_id is 'The affiliate; null where the sale names none. Part of the primary key. Refers to affiliates.id.';
comment on column :"reports".payouts_due.currency is 'Currency code of the amount, in capitals. Part of the primary key.';
comment on column :"reports".payouts_due.affiliate_name is 'First and last name. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.affiliate_email is 'Email address. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.payout_email is 'Address to which the affiliate is paid; null where there is none. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.wise_email is 'Address of the affiliate at another payout provider; null where there is none. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".payouts_due.has_payout_address is 'Whether the affiliate has one of these two addresses; false without an affiliate, null where the mirror keeps no addresses of the affiliate.';
comment on column :"reports".payouts_due.commissions is 'How many commissions.';
comment on column :"reports".payouts_due.amount is 'Sum of their amounts, in the unit of commissions.amount; negative where more was clawed back than earned.';
comment on column :"reports".payouts_due.is_transferable is 'Whether the amount is to be transferred: it is more than zero, and the affiliate is not known to lack a payout address.';
comment on column :"reports".payouts_due.due_since is 'Since when the oldest of them is payable; null where the program sends no due_at.';

comment on view :"reports".freshness is 'How fresh the mirror is: one row per resource.';
comment on column :"reports".freshness.resource is 'affiliates (with their campaigns and links), referrals, campaigns, or commissions (with their sales). Primary key.';
comment on column :"reports".freshness.everything_as_of is 'Everything of it was last read as of this time; null where it never was.';
comment on column :"reports".freshness.everything_age_seconds is 'How long ago that is, in seconds.';
comment on column :"reports".freshness.changes_as_of is 'Changes of it were last read as of this time: the mirror is at least as new, but for what not_covered says.';
comment on column :"reports".freshness.changes_age_seconds is 'How long ago that is, in seconds.';
comment on column :"reports".freshness.deltas_since_everything is 'Verified runs since then that only looked for changes.';
comment on column :"reports".freshness.not_covered is 'What the mirror may lack nevertheless, in words; null where there is nothing.';
comment on column :"reports".freshness.rejected_records is 'The most records that one run could not store, since and including the last that read everything.';
comment on column :"reports".freshness.rejected_since is 'When the first of those runs began that rejected any.';
comment on column :"reports".freshness.deletions_held_back is 'Rows that look deleted in the program, and are not marked.';
comment on column :"reports".freshness.deletions_held_back_since is 'Since when there are some that nobody accepted.';
comment on column :"reports".freshness.deletions_accepted is 'Those of them that somebody accepted: the next run that reads everything marks what is still missing.';
comment on column :"reports".freshness.last_run_id is 'The last run that was not left to another process. Refers to run_log.id.';
comment on column :"reports".freshness.last_run_state is 'How it ended, or running; see run_log.state.';
comment on column :"reports".freshness.last_run_verified is 'Whether it is known that it missed nothing.';
comment on column :"reports".freshness.last_run_started_at is 'When it began.';
comment on column :"reports".freshness.last_run_saved_at is 'When it last saved its progress.';
comment on column :"reports".freshness.last_run_saved_age_seconds is 'How long ago that is, in seconds.';
comment on column :"reports".freshness.last_run_finished_at is 'When it ended; null while it runs.';
comment on column :"reports".freshness.last_run_error_code is 'Stable code of the error that it ended with.';
comment on column :"reports".freshness.last_run_error is 'Why it did not succeed, in words. Of a failed run it may quote the program.';

comment on view :"reports".run_log is 'The run log: one row per run and resource, with what it read and changed and how it ended.';
comment on column :"reports".run_log.duration_seconds is 'How long it took from its first start, in seconds; while it runs, until it last saved its progress.';
comment on column :"reports".run_log.last_saved_at is 'When it last saved its progress.';
comment on column :"reports".run_log.records is 'Records read, each once: rows_seen without rows_repeated.';

-- A column that is the mirror's own has the mirror's comment, with its key in the form of this schema.
do $$
declare
  column_of record;
  words text;
begin
  for column_of in
    select shown.relname as view, attribute.attname as name,
           col_description(source.oid, original.attnum) as words
    from pg_class shown
    join pg_attribute attribute on attribute.attrelid = shown.oid and attribute.attnum > 0
    join pg_class source on source.relnamespace = current_schema()::regnamespace
      and source.relname = case shown.relname when 'run_log' then 'sync_runs' else shown.relname end
    join pg_attribute original on original.attrelid = source.oid and original.attname = attribute.attname
    where shown.relnamespace = ':"reports"'::regnamespace
      and col_description(shown.oid, attribute.attnum) is null
  loop
    words := column_of.words;
    if column_of.name = 'id' or (column_of.view, column_of.name) = ('commission_ledger', 'request') then
      words := regexp_replace(words, ' \(\w+\.\w+\)', '') || ' Primary key.';
    elsif words ~ '\(\w+\.id\)' then
      words := regexp_replace(words, ' \(\w+\.id\)', '') || ' Refers to '
        || replace(substring(words from '\((\w+\.id)\)'), 'sync_runs.', 'run_log.') || '.';
    elsif column_of.name = '_changed_at' then
      words := 'When the mirror last wrote a change of the content. To load what changed, read the table of the same name: this view has no deleted rows.';
    end if;
    execute format('comment on column :"reports".%I.%I is %L', column_of.view, column_of.name, words);
  end loop;
end
$$;

comment on column :"reports".conversion_events.referral_id is 'The referral. Part of the primary key. Refers to referrals.id.';
comment on column :"reports".conversion_events.observed_at is 'When the mirror saw the conversion, or a referral that had converted before, for the first time. Part of the primary key.';
comment on column :"reports".commissions.affiliate_id is 'Affiliate who earns the commission: that of its sale. Refers to affiliates.id.';
comment on column :"reports".commissions.referral_id is 'Referral whose customer was charged: that of its sale. Refers to referrals.id.';
comment on column :"reports".commissions._changed_at is 'When the mirror last wrote a change of the commission; it stays where its sale gets another affiliate or referral. To load what changed, read the tables commissions and sales: this view has no deleted rows.';
comment on column :"reports".commission_ledger.state is 'pending, or how it ended: applied (the program has it as asked), unchanged (it was so already), conflict (what was expected did not hold, or its sale was refunded), not_found, rejected (refused by the program), failed (tried often enough without success), superseded (dropped for a newer request), cancelled.';
comment on column :"reports".referrals.coupon_id is 'Coupon that the referral came by; null where it came by a link. Seen in the wild: null where the program does not send it.';
comment on column :"reports".referrals.coupon_token is 'The word that customers enter to use the coupon.';

do $$
declare
  masked record;
begin
  for masked in
    select relation.oid, relation.relname, attribute.attname, attribute.attnum, hidden.source
    from (values
      ('affiliates', 'affiliates', array['first_name', 'last_name', 'email', 'payout_email', 'unconfirmed_email',
                                         'processor_customer_id', 'processor_account_id', 'wise_email']),
      ('links', 'links', array['url', 'token']),
      ('referrals', 'referrals', array['processor_customer_id', 'customer_id', 'customer_name', 'customer_email',
                                       'coupon_token']),
      ('conversion_events', 'referrals', array['customer_email']),
      ('run_log', 'sync_runs', array['error']),
      ('freshness', 'sync_runs', array['last_run_error']),
      ('commission_ledger', 'affiliates', array['affiliate_name', 'affiliate_email']),
      ('commission_ledger', 'commission_updates', array['batch', 'outcome', 'note', 'reason', 'requested_by'])
    ) as hidden (view, source, columns)
    join pg_class relation on relation.relnamespace = ':"reports"'::regnamespace and relation.relname = hidden.view
    join pg_attribute attribute on attribute.attrelid = relation.oid and attribute.attname = any (hidden.columns)
  loop
    execute format('comment on column :"reports".%I.%I is %L', masked.relname, masked.attname,
      col_description(masked.oid, masked.attnum)
        || format(' Personal data: null unless you may read the table %s.', masked.source));
  end loop;
end
$$;
