-- Made by npm run docs.
select
  day,
  new_referrals,
  leads,
  conversions
from {{ source('mirror_reports', 'referral_funnel_daily') }}
