// The fields of every resource, copied from the tables of api-contract.md, sorted: the sandbox is compared with the
// document, not with the code that reads it.

export const CAMPAIGN_FIELDS = ['created_at', 'id', 'name', 'updated_at'];

export const CUSTOMER_FIELDS = ['email', 'id', 'name', 'platform'];

export const LINK_FIELDS = ['conversions', 'id', 'leads', 'token', 'url', 'visitors'];

/** Without `campaign`, which a list shows by expansion only. */
export const AFFILIATE_FIELDS = [
  'confirmed_at',
  'conversions',
  'created_at',
  'email',
  'first_name',
  'id',
  'last_name',
  'leads',
  'payout_email',
  'payout_email_confirmed_at',
  'processor_account_id',
  'processor_customer_id',
  'receive_new_commission_notifications',
  'sign_in_count',
  'unconfirmed_email',
  'updated_at',
  'visitors',
];

export const REFERRAL_FIELDS = [
  'conversion_state',
  'created_at',
  'customer',
  'deactivated_at',
  'expires_at',
  'id',
  'link',
  'processor_account_id',
  'processor_customer_id',
  'updated_at',
  'visits',
];

export const SALE_FIELDS = [
  'affiliate',
  'charge_amount_cents',
  'charged_at',
  'created_at',
  'currency',
  'id',
  'invoiced_at',
  'processor_account_id',
  'processor_charge_id',
  'referral',
  'refund_amount_cents',
  'sale_amount_cents',
  'tax_amount_cents',
  'updated_at',
];

export const COMMISSION_FIELDS = [
  'amount',
  'campaign',
  'created_at',
  'currency',
  'due_at',
  'id',
  'paid_at',
  'sale',
  'updated_at',
];
