-- Made by npm run docs.
select
  affiliate_id,
  currency,
  unpaid_cents,
  due_cents,
  paid_cents,
  total_cents,
  gross_revenue_cents,
  net_revenue_cents
from {{ source('mirror_reports', 'affiliate_balances') }}
