-- Why: the mirror knows only the commissions that were tracked or updated through it; the program's own sums per
-- affiliate show how much of the whole those are.
-- Lock taken: none on anything that exists (a new view). Breaking: no.

create view commission_totals as
with known as (
  select sale.affiliate_id,
         upper(commission.currency) as currency,
         count(*) as commissions,
         coalesce(sum(commission.amount) filter (where commission.paid_at is null), 0)::bigint as unpaid,
         coalesce(sum(commission.amount) filter (where commission.paid_at is not null), 0)::bigint as paid,
         sum(commission.amount)::bigint as total
  from commissions commission
  join sales sale on sale.id = commission.sale_id
  where commission._deleted_at is null
    -- The program counts a voided commission neither as unpaid nor as paid.
    and commission.voided_at is null
    and commission.state is distinct from 'voided'
  group by sale.affiliate_id, upper(commission.currency)
), figures as (
  select affiliate.id as affiliate_id,
         upper(stats.currency) as currency,
         (select jsonb_object_agg(figure.name, (figure.value ->> 'cents')::numeric)
          from jsonb_each(case jsonb_typeof(stats.figures) when 'object' then stats.figures else '{}' end)
            as figure (name, value)
          where jsonb_typeof(figure.value -> 'cents') = 'number') as cents
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
         (cents ->> 'unpaid')::bigint as unpaid,
         (cents ->> 'paid')::bigint as paid,
         coalesce((cents ->> 'total')::bigint, (cents ->> 'unpaid')::bigint + (cents ->> 'paid')::bigint) as total
  from figures
)
select coalesce(known.affiliate_id, reported.affiliate_id) as affiliate_id,
       coalesce(known.currency, reported.currency) as currency,
       coalesce(known.commissions, 0) as known_commissions,
       coalesce(known.unpaid, 0) as known_unpaid,
       coalesce(known.paid, 0) as known_paid,
       coalesce(known.total, 0) as known_total,
       reported.unpaid as reported_unpaid,
       reported.paid as reported_paid,
       reported.total as reported_total,
       reported.unpaid - coalesce(known.unpaid, 0) as unknown_unpaid,
       reported.paid - coalesce(known.paid, 0) as unknown_paid,
       reported.total - coalesce(known.total, 0) as unknown_total
from known
full join reported on reported.affiliate_id = known.affiliate_id and reported.currency = known.currency;

comment on view commission_totals is 'Per affiliate and currency: the sums of the commissions that the mirror knows, beside the sums that the program reports, and the difference. The program has no list of commissions, so the mirror knows only those that were tracked or updated through it.';
comment on column commission_totals.affiliate_id is 'The affiliate (affiliates.id); null for commissions whose sale names none.';
comment on column commission_totals.currency is 'Currency code of every sum in the row.';
comment on column commission_totals.known_commissions is 'How many commissions the mirror knows; without voided and deleted ones.';
comment on column commission_totals.known_unpaid is 'Sum of their amounts, of those that are not paid.';
comment on column commission_totals.known_paid is 'Sum of their amounts, of those that are paid.';
comment on column commission_totals.known_total is 'Sum of all their amounts.';
comment on column commission_totals.reported_unpaid is 'What the program reports as unpaid (affiliates.commission_stats), in cents, as of the last sync of affiliates; null where it reports nothing.';
comment on column commission_totals.reported_paid is 'What the program reports as paid.';
comment on column commission_totals.reported_total is 'What the program reports in all: unpaid and paid.';
comment on column commission_totals.unknown_unpaid is 'Reported minus known: unpaid commissions that the mirror has not met, or whose payment it has not seen yet. Takes amounts to be in cents, which the program does not say.';
comment on column commission_totals.unknown_paid is 'Reported minus known: paid commissions that the mirror has not met. Below zero where it saw payments after the last sync of affiliates.';
comment on column commission_totals.unknown_total is 'Reported minus known, of all commissions: 0 where the mirror knows every one. Below zero where the program voids commissions without saying so of them (no state, no voided_at).';
