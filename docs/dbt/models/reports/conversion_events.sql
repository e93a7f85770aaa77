-- Made by npm run docs.
select
  referral_id,
  observed_at,
  affiliate_id,
  link_id,
  customer_email,
  from_state,
  converted_at,
  is_exact,
  run_id
from {{ source('mirror_reports', 'conversion_events') }}
