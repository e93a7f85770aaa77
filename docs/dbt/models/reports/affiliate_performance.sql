-- Made by npm run docs.
select
  affiliate_id,
  currency,
  affiliate_name,
  campaign_id,
  visitors,
  leads,
  conversions,
  lead_rate,
  conversion_rate,
  sales,
  charged_cents,
  refunded_cents,
  revenue_cents,
  commissions,
  commission_amount,
  paid_amount,
  unpaid_amount
from {{ source('mirror_reports', 'affiliate_performance') }}
