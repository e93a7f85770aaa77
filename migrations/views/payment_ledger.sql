-- The payment ledger, for finance.

create or replace view commission_ledger as
select request.id as request,
       request.batch_id as batch,
       request.commission_id,
       request.action,
       case
         when request.payout_id is not null then 'pay the payout'
              || case when request.even_if_refunded then ', even if refunded' else '' end
         when request.action = 'pay' then 'mark paid at ' || to_char(request.paid_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
              || case when request.even_if_refunded then ', even if refunded' else '' end
         when request.action = 'unpay' then 'mark unpaid'
         else 'make payable from ' || to_char(request.due_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
       end as asked,
       request.state,
       coalesce(request.outcome, case
         when request.claimed_until > statement_timestamp() then 'being applied now'
         when request.payout_id is not null and coalesce(request.after, request.before) ->> 'state' = 'processing'
           then 'the payout is being paid'
         when request.action <> 'due' and payout_under_way(request.commission_id) is not null
           then format('waits for payout %s, which is being paid', payout_under_way(request.commission_id))
         when request.last_error is not null then 'will be tried again: ' || request.last_error
         else 'waits its turn'
       end) as outcome,
       request.note,
       request.reason,
       request.requested_by,
       request.requested_at,
       request.finished_at,
       coalesce((request.after ->> 'amount')::bigint, (request.before ->> 'amount')::bigint, commission.amount,
                payout.amount) as amount,
       coalesce(request.after ->> 'currency', request.before ->> 'currency', commission.currency, payout.currency) as currency,
       (request.before ->> 'paid_at')::timestamptz as paid_at_before,
       (coalesce(request.after, request.before) ->> 'paid_at')::timestamptz as paid_at_after,
       (request.before ->> 'due_at')::timestamptz as due_at_before,
       (coalesce(request.after, request.before) ->> 'due_at')::timestamptz as due_at_after,
       coalesce(sale.affiliate_id, payout.affiliate_id) as affiliate_id,
       nullif(btrim(concat_ws(' ', affiliate.first_name, affiliate.last_name)), '') as affiliate_name,
       affiliate.email as affiliate_email,
       (select count(*) from commission_update_attempts attempt
        where attempt.update_id = request.id and attempt.method = 'PUT'
          and (attempt.error is null or attempt.error not like 'not sent: %')) as puts,
       coalesce(request.payout_id, commission.payout_id) as payout_id,
       case when request.payout_id is null then 1
            else coalesce((request.after ->> 'commissions')::bigint, (request.before ->> 'commissions')::bigint)
       end as commissions,
       request.commission_ids
from commission_updates request
left join commissions commission on commission.id = request.commission_id
left join sales sale on sale.id = commission.sale_id
left join payouts payout on payout.id = request.payout_id
left join affiliates affiliate on affiliate.id = coalesce(sale.affiliate_id, payout.affiliate_id);

comment on view commission_ledger is 'The payment requests for finance: what was asked, by whom and why, how it ended, and the values before and after, with amount and affiliate.';
comment on column commission_ledger.request is 'Number of the request (commission_updates.id).';
comment on column commission_ledger.batch is 'Name of the batch.';
comment on column commission_ledger.commission_id is 'The commission (commissions.id); null of a payout, see commission_ids.';
comment on column commission_ledger.action is 'pay: to be marked paid, or the payout to be paid. unpay: to be marked unpaid. due: to be made payable from another time.';
comment on column commission_ledger.asked is 'The request, in words.';
comment on column commission_ledger.state is 'pending, applied, unchanged, conflict, not_found, rejected, failed, superseded or cancelled; see commission_updates.state.';
comment on column commission_ledger.outcome is 'How it ended or how far it is, in words.';
comment on column commission_ledger.note is 'A remark on the outcome.';
comment on column commission_ledger.reason is 'Why it was asked for.';
comment on column commission_ledger.requested_by is 'Who asked.';
comment on column commission_ledger.requested_at is 'When it was asked.';
comment on column commission_ledger.finished_at is 'When it ended; null while pending.';
comment on column commission_ledger.amount is 'Amount of the commission or the payout, as last seen; in the unit of commissions.amount.';
comment on column commission_ledger.currency is 'Currency code of the amount, as the API spells it: upper(currency) makes usd and USD one.';
comment on column commission_ledger.paid_at_before is 'When it was paid according to the API, before the request; null while unpaid.';
comment on column commission_ledger.paid_at_after is 'The same, after the request; as before if nothing was changed, null while unpaid.';
comment on column commission_ledger.due_at_before is 'From when it was payable according to the API, before the request.';
comment on column commission_ledger.due_at_after is 'The same, after the request; as before if nothing was changed.';
comment on column commission_ledger.affiliate_id is 'Affiliate who earns the commission or is paid (affiliates.id), if the mirror knows.';
comment on column commission_ledger.affiliate_name is 'Name of the affiliate.';
comment on column commission_ledger.affiliate_email is 'Email address of the affiliate.';
comment on column commission_ledger.puts is 'How often the change was sent.';
comment on column commission_ledger.payout_id is 'The payout to be paid (payouts.id); of a commission, the payout that lists it, null if none does.';
comment on column commission_ledger.commissions is 'How many commissions the request is for: 1, or those of the payout; null if the payout was not read.';
comment on column commission_ledger.commission_ids is 'The commissions of the payout when the writer set out to pay it (commissions.id); null of a commission, and while nothing was sent.';
