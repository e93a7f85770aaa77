// The types of the sandbox's rows: a column for each field that the contract declares, and foreign keys.

import { createHash } from 'node:crypto';
import type { Field, Fields, ValueOf } from '../contract/declare.ts';
import { columnsOf, RECORDS } from '../contract/records.ts';

/** Counted by the database (counts.ts). */
const COUNTED = ['visitors', 'leads', 'conversions'] as const;
/** Computed from other columns (wire.ts, lists.ts). */
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
  /** Left out: null. */
  payout_id?: string | null;
};

/** `processing_until` is when it will be paid; null unless it is processing. */
export type PayoutRow = OfRecord<'payouts'> & { affiliate_id: string; processing_until: string | null };

/** Every table and the type of its rows, in the order in which they may be filled. */
export interface Rows {
  campaigns: CampaignRow;
  affiliates: AffiliateRow;
  links: LinkRow;
  referrals: ReferralRow;
  sales: SaleRow;
  payouts: PayoutRow;
  commissions: CommissionRow;
}

/** The program's account at the payment processor. */
export const PROCESSOR_ACCOUNT_ID = 'acct_1SandboxMerchant';

/** Returns the columns of the table's own fields; `isCounted` if triggers fill them. */
export function keptColumns(table: keyof Rows) {
  return columnsOf(RECORDS[table].fields)
    .filter(([column]) => !(COMPUTED as readonly string[]).includes(column))
    .map(([column, field]) => ({
      column,
      field,
      isCounted: (COUNTED as readonly string[]).includes(column),
    }));
}

/** One of so many nullable values is null. */
const NULL_OF = 4;

/**
 * Adds values for the declared fields that a record lacks, so that a new field needs no code here. They follow from the
 * record's identifier, not from chance, so that a seed always gives the same program.
 */
export function complete<T extends keyof Rows>(table: T, row: Partial<Rows[T]> & Made): Rows[T] {
  const lacking = keptColumns(table).filter(({ column, isCounted }) => !isCounted && !(column in row));
  const made = lacking.map(({ column, field }) => [column, makeUp(row, column, field)]);
  return { ...row, ...Object.fromEntries(made) } as Rows[T];
}

interface Made {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at?: string;
}

function makeUp({ id, created_at, updated_at = created_at }: Made, column: string, field: Field): unknown {
  const digest = createHash('md5').update(`${id} ${column}`).digest();
  const number = digest.readUInt16BE();
  const mayBeNull = field.presence === 'or null' || field.presence === 'seen in the wild';
  if (mayBeNull && number % NULL_OF === 0) return null;
  switch (field.type) {
    case 'identifier':
      return id;
    case 'text':
      return `${column} ${digest.toString('hex', 0, 4)}`;
    case 'timestamp':
      return updated_at;
    case 'integer':
    case 'number':
      return number % 100;
    case 'boolean':
      return number % 2 === 0;
    case 'json':
      return {};
  }
}
