// Invents one plausible record at a time; rows.ts adds the remaining fields. In the contract's spelling no promised
// field is null; live deployments send null instead.

import type { Randomness } from './randomness.ts';
import { inventPerson, slug } from './randomness.ts';
import {
  type AffiliateRow,
  type CampaignRow,
  type CommissionRow,
  complete,
  type LinkRow,
  PROCESSOR_ACCOUNT_ID,
  type ReferralRow,
  type SaleRow,
} from './rows.ts';
import type { Spelling } from './wire.ts';

export interface Source {
  readonly randomness: Randomness;
  readonly spelling: Spelling;
}

export const DAY_MS = 86_400_000;

const CAMPAIGN_NAMES = ['Friends of the House', 'Agency Partners', 'Creators', 'Customers'];
const PRICES_CENTS = [900, 1_900, 4_900, 9_900, 14_900, 29_900, 99_900];
/** Purchases after so many days no longer count for the affiliate. */
const COOKIE_DAYS = 60;

/** Returns the campaigns of a program, all of them older than `before`. */
export function inventCampaigns(randomness: Randomness, before: Date): CampaignRow[] {
  return CAMPAIGN_NAMES.map((name) => {
    const created_at = timestamp(before.getTime() - randomness.integer(1, 30 * DAY_MS));
    return complete('campaigns', {
      id: randomness.uuid(),
      created_at,
      updated_at: created_at,
      name,
      url: 'https://www.example.com/',
      private: false,
      commission_percent: randomness.pick([10, 15, 20, 30]),
      days_until_commissions_are_due: randomness.pick([14, 30, 45]),
      reward_type: 'percent',
      commission_amount_cents: null,
    });
  });
}

/** Returns an affiliate as it is at `asOf`. */
export function inventAffiliate(
  { randomness, spelling }: Source,
  campaignId: string,
  createdAt: Date,
  asOf: Date,
): AffiliateRow {
  const { first, last, email } = inventPerson(randomness);
  const created_at = createdAt.toISOString();
  const afterwards = earlier(createdAt.getTime() + randomness.integer(30_000, 3 * DAY_MS), asOf);
  const isConfirmed = !randomness.chance(0.08) || spelling === 'neutral';
  const isPayable = isConfirmed && randomness.chance(0.8);
  const isPaidByWise = isConfirmed && !isPayable;
  const id = randomness.uuid();
  const isPayoutConfirmed = (isPayable && randomness.chance(0.9)) || spelling === 'neutral';
  return complete('affiliates', {
    id,
    created_at,
    updated_at: isConfirmed ? afterwards : created_at,
    campaign_id: campaignId,
    first_name: first,
    last_name: last,
    email,
    payout_email: isPayable ? `payout.${email}` : isConfirmed ? '' : null,
    confirmed_at: isConfirmed ? afterwards : null,
    payout_email_confirmed_at: isPayoutConfirmed ? afterwards : null,
    receive_new_commission_notifications: randomness.chance(0.7),
    sign_in_count: isConfirmed ? randomness.integer(1, 80) : 0,
    unconfirmed_email: randomness.chance(0.03) ? `new.${email}` : null,
    processor_customer_id: randomness.chance(0.15) ? `cus_${randomness.token(14)}` : null,
    processor_account_id: randomness.chance(0.1) ? `acct_${randomness.token(16)}` : null,
    state: randomness.chance(0.95) ? 'active' : randomness.pick(['disabled', 'suspicious']),
    wise_email: isPaidByWise ? `wise.${email}` : null,
    wise_email_confirmed_at: isPaidByWise ? afterwards : null,
  });
}

export function inventLink(
  randomness: Randomness,
  affiliate: Pick<AffiliateRow, 'id' | 'created_at' | 'first_name'>,
): LinkRow {
  const token = `${slug(affiliate.first_name ?? '')}${randomness.integer(100_000, 99_999_999)}`;
  return complete('links', {
    id: randomness.uuid(),
    created_at: affiliate.created_at,
    affiliate_id: affiliate.id,
    url: `https://www.example.com/?via=${token}`,
    token,
  });
}

/** Returns a referral in the given state as it is at `asOf`; a visitor has no customer yet. */
export function inventReferral(
  { randomness, spelling }: Source,
  origin: Pick<ReferralRow, 'affiliate_id' | 'link_id' | 'conversion_state'> & {
    createdAt: Date;
    asOf: Date;
  },
): ReferralRow {
  const { createdAt, asOf, conversion_state } = origin;
  const created_at = createdAt.toISOString();
  const isVisitor = conversion_state === 'visitor';
  const id = randomness.uuid();
  const updated_at = earlier(createdAt.getTime() + (isVisitor ? 0 : randomness.integer(1, 2 * DAY_MS)), asOf);
  const neverExpires = spelling === 'live' && conversion_state === 'conversion';
  return complete('referrals', {
    id,
    created_at,
    updated_at,
    affiliate_id: origin.affiliate_id,
    link_id: origin.link_id,
    processor_account_id: PROCESSOR_ACCOUNT_ID,
    conversion_state,
    deactivated_at: randomness.chance(0.02) ? earlier(createdAt.getTime() + 3 * DAY_MS, asOf) : null,
    expires_at: neverExpires ? null : timestamp(createdAt.getTime() + COOKIE_DAYS * DAY_MS),
    visits: randomness.integer(1, isVisitor ? 4 : 12),
    ...(conversion_state === 'conversion'
      ? datesOfConversion(created_at, updated_at)
      : { became_lead_at: isVisitor ? null : updated_at, became_conversion_at: null }),
    ...(isVisitor ? NO_CUSTOMER : inventCustomer(randomness)),
  });
}

type Customer = Pick<
  ReferralRow,
  'processor_customer_id' | `customer_${'platform' | 'id' | 'name' | 'email'}`
>;

const NO_CUSTOMER: Customer = {
  processor_customer_id: null,
  customer_platform: null,
  customer_id: null,
  customer_name: null,
  customer_email: null,
};

/** Draws nothing from chance: the referral became a lead halfway. */
export function datesOfConversion(
  createdAt: string,
  convertedAt: string,
): Pick<ReferralRow, 'became_lead_at' | 'became_conversion_at'> {
  const halfway = (Date.parse(createdAt) + Date.parse(convertedAt)) / 2;
  return { became_lead_at: timestamp(Math.floor(halfway)), became_conversion_at: convertedAt };
}

export function inventCustomer(randomness: Randomness): Customer {
  const { first, last, email } = inventPerson(randomness);
  const id = `cus_${randomness.token(14)}`;
  return {
    processor_customer_id: id,
    // The contract spells the filter stripe_customer_id.
    customer_platform: 'stripe',
    customer_id: id,
    customer_name: `${first} ${last}`,
    customer_email: email,
  };
}

/** A refunded sale is refunded in full, without tax. */
export function inventSale(
  { randomness, spelling }: Source,
  referral: Pick<ReferralRow, 'id' | 'affiliate_id'>,
  charge: { createdAt: Date; currency: string; isRefunded: boolean },
): SaleRow {
  const created_at = charge.createdAt.toISOString();
  // The sale is created a little after the charge.
  const charged_at = timestamp(charge.createdAt.getTime() - randomness.integer(200, 50_000));
  const amount = randomness.pick(PRICES_CENTS);
  const tax = !charge.isRefunded && randomness.chance(0.4) ? Math.round((amount * 19) / 119) : 0;
  const refund = charge.isRefunded ? amount : 0;
  return complete('sales', {
    id: randomness.uuid(),
    created_at,
    updated_at: created_at,
    referral_id: referral.id,
    affiliate_id: referral.affiliate_id,
    currency: charge.currency,
    charged_at,
    processor_account_id: PROCESSOR_ACCOUNT_ID,
    processor_charge_id: `ch_${randomness.token(24)}`,
    invoiced_at: randomness.chance(0.9) || spelling === 'neutral' ? charged_at : null,
    charge_amount_cents: amount,
    refund_amount_cents: refund,
    tax_amount_cents: tax,
    sale_amount_cents: amount - refund - tax,
  });
}

/** Returns the commission as it is at `asOf`: a refund voids it, time makes it due, some are paid. */
export function inventCommission(
  randomness: Randomness,
  sale: SaleRow,
  campaign: CampaignRow,
  asOf: Date,
): CommissionRow {
  const createdAtMs = Date.parse(sale.created_at);
  const dueAtMs = Date.parse(sale.charged_at) + campaign.days_until_commissions_are_due * DAY_MS;
  const isVoided = sale.refund_amount_cents > 0;
  const voidedAtMs = Math.min(createdAtMs + randomness.integer(1, 10 * DAY_MS), asOf.getTime());
  const paidAtMs = dueAtMs + randomness.integer(0, 10 * DAY_MS);
  const isPaid = !isVoided && paidAtMs <= asOf.getTime() && randomness.chance(0.75);
  const changedAtMs = isVoided ? voidedAtMs : isPaid ? paidAtMs : createdAtMs;
  // A voided commission keeps the amount that it was granted before the refund.
  const shared = sale.charge_amount_cents - sale.tax_amount_cents;
  return complete('commissions', {
    id: randomness.uuid(),
    created_at: sale.created_at,
    updated_at: timestamp(changedAtMs),
    sale_id: sale.id,
    affiliate_id: sale.affiliate_id,
    campaign_id: campaign.id,
    amount: Math.round((shared * campaign.commission_percent) / 100),
    currency: sale.currency,
    processor_account_id: PROCESSOR_ACCOUNT_ID,
    due_at: timestamp(dueAtMs),
    paid_at: isPaid ? timestamp(paidAtMs) : null,
    voided_at: isVoided ? timestamp(voidedAtMs) : null,
    state: isVoided ? 'voided' : isPaid ? 'paid' : dueAtMs <= asOf.getTime() ? 'due' : 'pending',
  });
}

export function inventCurrency(randomness: Randomness): string {
  return randomness.chance(0.8) ? 'USD' : randomness.pick(['EUR', 'EUR', 'GBP']);
}

function earlier(ms: number, asOf: Date): string {
  return timestamp(Math.min(ms, asOf.getTime()));
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
