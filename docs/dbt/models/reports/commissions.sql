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
  affiliate_id,
  referral_id,
  _changed_at,
  processor_account_id,
  payout_id
from {{ source('mirror_reports', 'commissions') }}
