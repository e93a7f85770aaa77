-- Made by npm run docs.
select
  id,
  created_at,
  updated_at,
  affiliate_id,
  link_id,
  processor_account_id,
  processor_customer_id,
  conversion_state,
  deactivated_at,
  expires_at,
  customer_platform,
  customer_id,
  customer_name,
  customer_email,
  visits,
  became_lead_at,
  became_conversion_at,
  coupon,
  _changed_at
from {{ source('mirror', 'referrals') }}
where _deleted_at is null
