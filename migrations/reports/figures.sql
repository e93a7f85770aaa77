-- What affiliates brought, when referrals converted, and what happened on each day.

-- The program's own totals as commission_totals reads them (views/commissions.sql).
create or replace view :"reports".affiliate_balances as
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

comment on view :"reports".affiliate_balances is 'The API''s own totals of each affiliate by currency, as last sent: one row per affiliate and currency.';
comment on column :"reports".affiliate_balances.affiliate_id is 'The affiliate. Part of the primary key. Refers to affiliates.id.';
comment on column :"reports".affiliate_balances.currency is 'Currency code of every sum in the row, in capitals. Part of the primary key.';
comment on column :"reports".affiliate_balances.unpaid_cents is 'Commissions that are not paid, due or not, in the unit of sales.charge_amount_cents; null if the API sends no such total, as in the other columns.';
comment on column :"reports".affiliate_balances.due_cents is 'Commissions that are payable now, in the same unit.';
comment on column :"reports".affiliate_balances.paid_cents is 'Commissions that are paid, in the same unit.';
comment on column :"reports".affiliate_balances.total_cents is 'All commissions, in the same unit.';
comment on column :"reports".affiliate_balances.gross_revenue_cents is 'The sum of charges to the affiliate''s customers, in the same unit.';
comment on column :"reports".affiliate_balances.net_revenue_cents is 'The rest of it after refunds and taxes, in the same unit.';

create or replace view :"reports".affiliate_performance as
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

comment on view :"reports".affiliate_performance is 'The results of each affiliate: one row per affiliate and currency, and one with a null currency if there are no sales and commissions. Counters and rates are repeated in each row of an affiliate: add up money by currency, and counters over one row of each affiliate. Sales and commissions whose affiliate is gone from the API, or not named, are in no row: for all of them, add up sales and commissions.';
comment on column :"reports".affiliate_performance.affiliate_id is 'The affiliate. Part of the primary key. Refers to affiliates.id.';
comment on column :"reports".affiliate_performance.currency is 'Currency code of every sum in the row, in capitals; null if the affiliate has no sales and commissions, and of those that have none. Part of the primary key.';
comment on column :"reports".affiliate_performance.affiliate_name is 'First and last name. Personal data: null unless you may read the table affiliates.';
comment on column :"reports".affiliate_performance.campaign_id is 'Campaign of the affiliate. Refers to campaigns.id.';
comment on column :"reports".affiliate_performance.visitors is 'Visitors referred so far, as the API counts them (leads and conversions included).';
comment on column :"reports".affiliate_performance.leads is 'Leads referred so far, as the API counts them (conversions included).';
comment on column :"reports".affiliate_performance.conversions is 'Conversions referred so far, as the API counts them.';
comment on column :"reports".affiliate_performance.lead_rate is 'Leads per visitor, from 0 to 1; null without visitors.';
comment on column :"reports".affiliate_performance.conversion_rate is 'Conversions per visitor, from 0 to 1; null without visitors.';
comment on column :"reports".affiliate_performance.sales is 'How many sales to the affiliate''s customers the mirror knows.';
comment on column :"reports".affiliate_performance.charged_cents is 'The sum charged for them, in the unit of sales.charge_amount_cents.';
comment on column :"reports".affiliate_performance.refunded_cents is 'The sum refunded, in the unit of sales.charge_amount_cents.';
comment on column :"reports".affiliate_performance.revenue_cents is 'The sum from which commissions are calculated, in the unit of sales.charge_amount_cents.';
comment on column :"reports".affiliate_performance.commissions is 'How many commissions of the affiliate the mirror knows; without voided ones.';
comment on column :"reports".affiliate_performance.commission_amount is 'Sum of their amounts, in the unit of commissions.amount.';
comment on column :"reports".affiliate_performance.paid_amount is 'Sum of the amounts of those that are paid.';
comment on column :"reports".affiliate_performance.unpaid_amount is 'Sum of the amounts of those that are not paid.';

create or replace view :"reports".conversion_events as
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

comment on view :"reports".conversion_events is 'Each conversion of a referral: those that the mirror saw happen, and those from before whose time the API states.';
select copy_comments('conversion_events', 'conversion_events', array['customer_email'], 'referrals');
comment on column :"reports".conversion_events.referral_id is 'The referral. Part of the primary key. Refers to referrals.id.';
comment on column :"reports".conversion_events.observed_at is 'When the mirror saw the conversion, or a referral that had converted before, for the first time. Part of the primary key.';

-- Each source is summed up by itself first, and the referrals are read once for two of the columns: no list of a million
-- moments is put together. date_bin, since a day of UTC is always as long as another, and asking for the day in a time
-- zone costs a million times as much as it looks.
create or replace view :"reports".referral_funnel_daily as
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

comment on view :"reports".referral_funnel_daily is 'Events of each UTC day: one row per day with any. A lead or a conversion counts on the day on which it happened, whenever the referral was new.';
comment on column :"reports".referral_funnel_daily.day is 'The day, in UTC. Primary key.';
comment on column :"reports".referral_funnel_daily.new_referrals is 'Referrals that were created.';
comment on column :"reports".referral_funnel_daily.leads is 'Referrals that became a lead, also those that went from visitor to conversion at once: when the API states it, else when the mirror first saw it happen. A conversion that falls back to a lead is no new one. Those that were leads when first seen, and whose time it does not state, are in no day.';
comment on column :"reports".referral_funnel_daily.conversions is 'Conversions, as in conversion_events.';
