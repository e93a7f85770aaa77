-- Made by npm run docs.
select
  id,
  created_at,
  updated_at,
  referral_id,
  affiliate_id,
  currency,
  charged_at,
  processor_account_id,
  processor_charge_id,
  invoiced_at,
  charge_amount_cents,
  refund_amount_cents,
  tax_amount_cents,
  sale_amount_cents,
  _changed_at
from {{ source('mirror', 'sales') }}
where _deleted_at is null
