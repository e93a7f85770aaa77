-- Made by npm run docs.
select
  id,
  created_at,
  updated_at,
  first_name,
  last_name,
  email,
  payout_email,
  confirmed_at,
  payout_email_confirmed_at,
  receive_new_commission_notifications,
  sign_in_count,
  unconfirmed_email,
  processor_customer_id,
  processor_account_id,
  visitors,
  leads,
  conversions,
  state,
  wise_email,
  wise_email_confirmed_at,
  campaign_id,
  commission_stats,
  _changed_at
from {{ source('mirror', 'affiliates') }}
where _deleted_at is null
