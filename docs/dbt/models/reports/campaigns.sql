-- Made by npm run docs.
select
  id,
  created_at,
  updated_at,
  name,
  url,
  private,
  commission_percent,
  days_until_commissions_are_due,
  reward_type,
  commission_amount_cents,
  max_commission_period_months,
  _changed_at
from {{ source('mirror_reports', 'campaigns') }}
