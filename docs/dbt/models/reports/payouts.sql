-- Made by npm run docs.
select
  id,
  created_at,
  updated_at,
  affiliate_id,
  amount,
  currency,
  state,
  paid_at,
  paid_by_id,
  _changed_at
from {{ source('mirror_reports', 'payouts') }}
