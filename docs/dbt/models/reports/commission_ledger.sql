-- Made by npm run dbt.
select
  request,
  commission_id,
  affiliate_id,
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
  affiliate_name,
  affiliate_email,
  batch,
  outcome,
  note,
  reason,
  requested_by
from {{ source('mirror_reports', 'commission_ledger') }}
