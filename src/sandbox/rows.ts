// The shape of every row that the sandbox keeps.

export interface CampaignRow {
  id: string;
  created_at: string;
  updated_at: string;
  name: string;
  commission_percent: number;
  days_until_due: number;
}

export interface AffiliateRow {
  id: string;
  created_at: string;
  updated_at: string;
  campaign_id: string;
  first_name: string;
  last_name: string;
  email: string;
  payout_email: string;
  confirmed_at: string | null;
  payout_email_confirmed_at: string | null;
  receive_new_commission_notifications: boolean;
  sign_in_count: number;
  unconfirmed_email: string | null;
  processor_customer_id: string | null;
  processor_account_id: string | null;
  state: string;
}

export interface LinkRow {
  id: string;
  created_at: string;
  affiliate_id: string;
  url: string;
  token: string;
}

export interface ReferralRow {
  id: string;
  created_at: string;
  updated_at: string;
  affiliate_id: string;
  link_id: string | null;
  processor_account_id: string;
  processor_customer_id: string | null;
  conversion_state: string;
  deactivated_at: string | null;
  expires_at: string | null;
  customer_name: string | null;
  customer_email: string | null;
  visits: number;
  became_lead_at: string | null;
  became_conversion_at: string | null;
}

export interface SaleRow {
  id: string;
  created_at: string;
  updated_at: string;
  referral_id: string;
  affiliate_id: string;
  currency: string;
  charged_at: string;
  processor_account_id: string;
  processor_charge_id: string;
  invoiced_at: string | null;
  charge_amount_cents: number;
  refund_amount_cents: number;
  tax_amount_cents: number;
  sale_amount_cents: number;
}

export interface CommissionRow {
  id: string;
  created_at: string;
  updated_at: string;
  sale_id: string;
  affiliate_id: string;
  campaign_id: string;
  amount: number;
  currency: string;
  due_at: string;
  paid_at: string | null;
  voided_at: string | null;
  state: string;
}

/** Every table and the type of its rows, in the order in which they may be filled. */
export interface Rows {
  campaigns: CampaignRow;
  affiliates: AffiliateRow;
  links: LinkRow;
  referrals: ReferralRow;
  sales: SaleRow;
  commissions: CommissionRow;
}

/** The one account at the payment processor that the whole program belongs to. */
export const PROCESSOR_ACCOUNT_ID = 'acct_1SandboxMerchant';
