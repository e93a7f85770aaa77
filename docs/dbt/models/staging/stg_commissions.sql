-- Made by npm run docs.
select
  id,
  created_at,
  updated_at,
  campaign_id,
  sale_id,
  amount,
  currency,
  due_at,
  paid_at,
  state,
  voided_at,
  processor_account_id,
  payout_id,
  _changed_at
from {{ source('mirror', 'commissions') }}
where _deleted_at is null
