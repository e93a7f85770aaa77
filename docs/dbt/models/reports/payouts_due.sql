-- Made by npm run docs.
select
  affiliate_id,
  currency,
  affiliate_name,
  affiliate_email,
  payout_email,
  wise_email,
  has_payout_address,
  commissions,
  amount,
  is_transferable,
  due_since
from {{ source('mirror_reports', 'payouts_due') }}
