-- Made by npm run dbt.
select
  affiliate_id,
  currency,
  affiliate_name,
  affiliate_email,
  commissions,
  amount,
  due_since
from {{ source('mirror_reports', 'payouts_due') }}
