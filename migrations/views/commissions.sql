-- What the mirror knows of commissions beside what the program reports, and what finance would pay today.
--
-- The program need not list its commissions, and then the mirror knows only those that were tracked or updated through
-- it; the program's own sums per affiliate show how much of the whole those are. Where it does list them, the same sums
-- show whether the mirror has every one.
--
-- * Sums of amounts are numeric(38, 0), here and in the reports: a thousand of the largest amounts are more than a bigint
--   holds, and one such sum would fail the view for all. The precision says that they are whole numbers.
-- * So are the program's own totals, which come unchecked: what is no number, or too large for such a sum, is as good as
--   missing. Two spellings of a currency are one: in the capitals of "C", since a Turkish database makes İNR of inr.

create or replace view commission_totals as
with known as (
  select sale.affiliate_id,
         upper(commission.currency collate "C") as currency,
         count(*) as commissions,
         coalesce(sum(commission.amount) filter (where commission.paid_at is null), 0) as unpaid,
         coalesce(sum(commission.amount) filter (where commission.paid_at is not null), 0) as paid,
         sum(commission.amount) as total
  from commissions commission
  left join sales sale on sale.id = commission.sale_id
  where commission._deleted_at is null
    -- The program counts a voided commission neither as unpaid nor as paid.
    and commission.voided_at is null
    and commission.state is distinct from 'voided'
  group by sale.affiliate_id, upper(commission.currency collate "C")
), stated as (
  select affiliate.id as affiliate_id,
         upper(stats.currency collate "C") as currency,
         jsonb_path_query_first(stats.figures, '$.unpaid.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0) as unpaid,
         jsonb_path_query_first(stats.figures, '$.paid.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0) as paid,
         jsonb_path_query_first(stats.figures, '$.total.cents ? (@ > -1e36 && @ < 1e36)')::numeric(38, 0) as total
  from affiliates affiliate
  cross join lateral jsonb_each(
    case jsonb_typeof(affiliate.commission_stats -> 'currencies')
      when 'object' then affiliate.commission_stats -> 'currencies' else '{}'
    end
  ) as stats (currency, figures)
  where affiliate._deleted_at is null
), reported as (
  select affiliate_id,
         currency,
         sum(unpaid)::numeric(38, 0) as unpaid,
         sum(paid)::numeric(38, 0) as paid,
         sum(coalesce(total, unpaid + paid))::numeric(38, 0) as total
  from stated
  group by affiliate_id, currency
)
select coalesce(known.affiliate_id, reported.affiliate_id) as affiliate_id,
       coalesce(known.currency, reported.currency) as currency,
       coalesce(known.commissions, 0) as known_commissions,
       coalesce(known.unpaid, 0)::numeric(38, 0) as known_unpaid,
       coalesce(known.paid, 0)::numeric(38, 0) as known_paid,
       coalesce(known.total, 0)::numeric(38, 0) as known_total,
       reported.unpaid as reported_unpaid,
       reported.paid as reported_paid,
       reported.total as reported_total,
       (reported.unpaid - coalesce(known.unpaid, 0))::numeric(38, 0) as unknown_unpaid,
       (reported.paid - coalesce(known.paid, 0))::numeric(38, 0) as unknown_paid,
       (reported.total - coalesce(known.total, 0))::numeric(38, 0) as unknown_total
from known
full join reported on reported.affiliate_id = known.affiliate_id and reported.currency = known.currency;

comment on view commission_totals is 'Per affiliate and currency: the sums of the commissions that the mirror knows, beside the sums that the API reports, and the difference. If the API lists its commissions (optional_lists) the mirror knows all of them; otherwise those that were tracked or updated through it.';
comment on column commission_totals.affiliate_id is 'The affiliate (affiliates.id); null for commissions without a sale, or whose sale names none.';
comment on column commission_totals.currency is 'Currency code of every sum in the row, in capitals.';
comment on column commission_totals.known_commissions is 'How many commissions the mirror knows; without voided and deleted ones.';
comment on column commission_totals.known_unpaid is 'Sum of their amounts, of those that are not paid.';
comment on column commission_totals.known_paid is 'Sum of their amounts, of those that are paid.';
comment on column commission_totals.known_total is 'Sum of all their amounts.';
comment on column commission_totals.reported_unpaid is 'The amount that the API reports as unpaid (affiliates.commission_stats), in cents, as of the last sync of affiliates; null if it reports nothing.';
comment on column commission_totals.reported_paid is 'The amount that the API reports as paid.';
comment on column commission_totals.reported_total is 'The amount that the API reports in all: unpaid and paid.';
comment on column commission_totals.unknown_unpaid is 'Reported minus known: unpaid commissions that the mirror has not met, or whose payment it has not seen yet. Takes amounts to be in cents, which the API does not say.';
comment on column commission_totals.unknown_paid is 'Reported minus known: paid commissions that the mirror has not met. Below zero if it saw payments after the last sync of affiliates.';
comment on column commission_totals.unknown_total is 'Reported minus known, of all commissions: 0 if the mirror knows every one. Below zero if the API voids commissions without saying so of them (no state, no voided_at).';

create or replace view commission_differences as
with reported as (
  select max(started_at) filter (where resource = 'affiliates') as as_of,
         max(started_at) filter (where resource = 'commissions') as commissions_as_of
  from sync_runs
  where verified
), changed as (
  select sale.affiliate_id,
         upper(commission.currency collate "C") as currency,
         max(greatest(commission.updated_at, commission._deleted_at)) as at
  from commissions commission
  join sales sale on sale.id = commission.sale_id
  group by sale.affiliate_id, upper(commission.currency collate "C")
), compared as (
  select totals.affiliate_id,
         totals.currency,
         totals.known_commissions,
         totals.known_unpaid,
         totals.known_paid,
         totals.known_total,
         -- A currency that the program does not name is one in which it reports nothing.
         case when named.currency is not null then totals.reported_unpaid else 0 end::numeric(38, 0) as reported_unpaid,
         case when named.currency is not null then totals.reported_paid else 0 end::numeric(38, 0) as reported_paid,
         case when named.currency is not null then totals.reported_total else 0 end::numeric(38, 0) as reported_total
  from commission_totals totals
  join affiliates affiliate on affiliate.id = totals.affiliate_id
  left join lateral (
    select key as currency
    from jsonb_object_keys(
      case jsonb_typeof(affiliate.commission_stats -> 'currencies')
        when 'object' then affiliate.commission_stats -> 'currencies' else '{}'
      end
    ) key
    where upper(key collate "C") = totals.currency
    limit 1
  ) named on true
  where affiliate._deleted_at is null
    and jsonb_typeof(affiliate.commission_stats -> 'currencies') = 'object'
)
select compared.*,
       reported.as_of as reported_as_of,
       changed.at as changed_at,
       -- A sync reads the affiliates first: until it has read the commissions as well, what is new among them is unknown.
       coalesce(changed.at >= reported.as_of, false) or coalesce(reported.commissions_as_of < reported.as_of, false)
         as is_recent
from compared
cross join reported
left join changed on changed.affiliate_id = compared.affiliate_id and changed.currency = compared.currency
-- What the program does not report is no difference.
where compared.reported_unpaid <> compared.known_unpaid
   or compared.reported_paid <> compared.known_paid
   or compared.reported_total <> compared.known_total;

comment on view commission_differences is 'Affiliates and currencies whose sums of commissions are not those that the API reports. If the API lists its commissions (optional_lists) there should be none but recent ones; otherwise the mirror knows only a part of them.';
comment on column commission_differences.affiliate_id is 'The affiliate (affiliates.id).';
comment on column commission_differences.currency is 'Currency code of every sum in the row, in capitals.';
comment on column commission_differences.known_commissions is 'How many commissions the mirror knows; without voided and deleted ones.';
comment on column commission_differences.known_unpaid is 'Sum of their amounts, of those that are not paid.';
comment on column commission_differences.known_paid is 'Sum of their amounts, of those that are paid.';
comment on column commission_differences.known_total is 'Sum of all their amounts.';
comment on column commission_differences.reported_unpaid is 'The amount that the API reports as unpaid, in cents; 0 if it reports other currencies only.';
comment on column commission_differences.reported_paid is 'The amount that the API reports as paid.';
comment on column commission_differences.reported_total is 'The amount that the API reports in all.';
comment on column commission_differences.reported_as_of is 'When the last verified sync of affiliates began, which read what the API reports.';
comment on column commission_differences.changed_at is 'When one of these commissions last changed in the API, or was found to be deleted.';
comment on column commission_differences.is_recent is 'Whether that was after reported_as_of, or all commissions were last read before it: the next sync may settle the difference.';

create or replace view unpaid_commissions as
select commission.id as commission_id,
       affiliate.id as affiliate_id,
       nullif(btrim(concat_ws(' ', affiliate.first_name, affiliate.last_name)), '') as affiliate_name,
       affiliate.email as affiliate_email,
       nullif(affiliate.payout_email, '') as payout_email,
       nullif(affiliate.wise_email, '') as wise_email,
       case
         when affiliate.id is null then false
         when concat(affiliate.payout_email, affiliate.wise_email) <> '' then true
         -- The API sends each affiliate's address: where none is stored, the mirror keeps none (PII=omit, forget).
         when affiliate.email is not null then false
       end as has_payout_address,
       commission.amount,
       upper(commission.currency collate "C") as currency,
       commission.due_at,
       judged.is_due,
       judged.withheld,
       judged.is_due and judged.withheld is null as is_payable,
       payout.id as payout_id
from commissions commission
left join sales sale on sale.id = commission.sale_id
left join affiliates affiliate on affiliate.id = sale.affiliate_id
left join payouts payout on payout.id = commission.payout_id and payout._deleted_at is null
  and payout.paid_at is null and payout.state <> 'paid'
left join lateral (
  select request.action, request.state
  from (
    select id, action, state from commission_updates where commission_id = commission.id
    union all
    select id, action, state from commission_updates where payout_id = commission.payout_id
  ) request
  where request.action in ('pay', 'unpay')
    and (request.state in ('pending', 'applied', 'unchanged') or request.action = 'pay' and request.state = 'failed')
  order by request.id desc
  limit 1
) last on true
cross join lateral (
  select coalesce(commission.due_at <= now(), commission.state is distinct from 'pending') as is_due,
         case
           when last.state = 'pending' then 'a request for it waits in the payment ledger'
           when payout.state = 'processing' then 'its payout is being paid'
           -- It may have arrived, and the requester has paid, or is about to.
           when last.state = 'failed' then 'a payment for it failed: retry it, or take it back with unpay'
           when last.action = 'pay' then 'by the payment ledger it was paid before'
           -- As the writer judges it (src/payments/judge-update.ts): it would end as conflict.
           when coalesce(sale.charge_amount_cents > 0, true)
             and (sale.refund_amount_cents >= sale.charge_amount_cents or sale.sale_amount_cents = 0)
             then 'its sale was refunded in full'
           when commission.amount is null or commission.currency is null then 'it has no amount or no currency'
         end as withheld
) judged
where commission.paid_at is null
  and commission._deleted_at is null
  and commission.voided_at is null
  and commission.state is distinct from 'voided';

comment on view unpaid_commissions is 'The commissions that are still to be paid, now (is_payable) or later: unpaid, not voided and not gone. If the API lists its commissions (optional_lists) these are all of them, as of the last sync; otherwise those that the mirror knows.';
comment on column unpaid_commissions.commission_id is 'The commission (commissions.id).';
comment on column unpaid_commissions.affiliate_id is 'The affiliate whom it is owed to (affiliates.id); null if its sale names none.';
comment on column unpaid_commissions.affiliate_name is 'First and last name of the affiliate.';
comment on column unpaid_commissions.affiliate_email is 'Email address of the affiliate.';
comment on column unpaid_commissions.payout_email is 'Address to which the affiliate is paid; null if there is none.';
comment on column unpaid_commissions.wise_email is 'Address of the affiliate at another payout provider; null if there is none.';
comment on column unpaid_commissions.has_payout_address is 'Whether the affiliate has one of these two addresses; false without an affiliate, null if the mirror keeps no addresses of the affiliate.';
comment on column unpaid_commissions.amount is 'Its amount, as in commissions.amount.';
comment on column unpaid_commissions.currency is 'Currency code of the amount, in capitals.';
comment on column unpaid_commissions.due_at is 'From when it is payable.';
comment on column unpaid_commissions.is_due is 'Whether that is over. If the API sent no due_at: whether it says otherwise than that the commission is pending.';
comment on column unpaid_commissions.withheld is 'Why it is not payable although it may be due, in words: a request for it or its payout waits in the payment ledger, its payout is being paid, a payment for it failed there, the payment ledger has it as paid, its sale was refunded in full, or it has no amount or no currency. Null: nothing speaks against it.';
comment on column unpaid_commissions.is_payable is 'Whether it is to be paid now: due, and not withheld.';
comment on column unpaid_commissions.payout_id is 'The payout that is to pay it (payouts.id); null if none is.';

create or replace view commission_stages as
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
join commissions commission on commission.id = unpaid.commission_id;

comment on view commission_stages is 'Each commission with its amount, and how far its payment is. Without voided and deleted ones.';
comment on column commission_stages.payable_at is 'From when it is payable; if the API sent no due_at, when it was created.';
comment on column commission_stages.currency is 'Currency code of the amount, in capitals.';
comment on column commission_stages.amount is 'Its amount, as in commissions.amount.';
comment on column commission_stages.stage is 'paid, pending (payable later), withheld (due, but not payable: see unpaid_commissions.withheld), overdue (payable for more than 30 days) or due.';
