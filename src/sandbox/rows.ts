// The shape of every row that the sandbox keeps: a column for each field that the contract declares, and the keys that
// lead from one to the other.

import type { Field, Fields, ValueOf } from '../contract/declare.ts';
import { columnsOf, RECORDS } from '../contract/records.ts';

/** Counted by the database (counts.ts). */
const COUNTED = ['visitors', 'leads', 'conversions'] as const;
/** Made of other columns when they are shown (wire.ts, lists.ts). */
const COMPUTED = ['commission_stats', 'coupon'] as const;

type Left = (typeof COUNTED)[number] | (typeof COMPUTED)[number];

type Values<F extends Fields> = {
  [K in keyof F as F[K] extends Field ? Exclude<K, Left> : never]: ValueOf<F[K]>;
};
type OfRecord<T extends keyof typeof RECORDS> = Values<(typeof RECORDS)[T]['fields']>;
type Customer = Values<(typeof RECORDS)['referrals']['fields']['customer']['fields']>;

export type CampaignRow = OfRecord<'campaigns'> & {
  commission_percent: number;
  days_until_commissions_are_due: number;
};

export type AffiliateRow = OfRecord<'affiliates'> & { campaign_id: string };

export type LinkRow = OfRecord<'links'> & { created_at: string; affiliate_id: string };

export type ReferralRow = OfRecord<'referrals'> & {
  [K in keyof Customer & string as `customer_${K}`]: Customer[K];
} & { affiliate_id: string; link_id: string | null };

export type SaleRow = OfRecord<'sales'> & { charged_at: string; referral_id: string; affiliate_id: string };

export type CommissionRow = OfRecord<'commissions'> & {
  sale_id: string;
  affiliate_id: string;
  campaign_id: string;
};

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

/** Returns the columns of the table's own fields; `isCounted` where the rows leave it to the database. */
export function keptColumns(table: keyof Rows) {
  return columnsOf(RECORDS[table].fields)
    .filter(([column]) => !(COMPUTED as readonly string[]).includes(column))
    .map(([column, field]) => ({
      column,
      field,
      isCounted: (COUNTED as readonly string[]).includes(column),
    }));
}
