// The affiliate, who refers customers; the campaign that recruited it, and the link, its tracked address.
// Source: contract, Affiliate, Campaign and Link.

import type { z } from 'zod';
import { boolean, identity, integer, json, list, number, one, record, text, timestamp } from './declare.ts';

export const CAMPAIGN = record('campaigns', {
  ...identity,
  name: text('none', 'Name of the campaign.'),
  url: text('none', 'Address that its links lead to.', 'seen in the wild'),
  private: boolean('Whether affiliates join by invitation only.', 'seen in the wild'),
  commission_percent: number('Share of a sale that affiliates earn, in per cent.', 'seen in the wild'),
  days_until_commissions_are_due: integer(
    'Days after which a commission becomes payable.',
    'seen in the wild',
  ),
  reward_type: text('none', 'How affiliates are paid: percent or amount; an open set.', 'seen in the wild'),
  commission_amount_cents: integer('Amount of each commission, in cents.', 'seen in the wild'),
  max_commission_period_months: integer(
    'For how many months the sales to a customer earn commissions.',
    'seen in the wild',
  ),
});
export const campaignSchema = CAMPAIGN.schema;
export type Campaign = z.infer<typeof campaignSchema>;

// The contract gives a link no times of its own. Affiliates choose the token, and most take their name.
export const LINK = record('links', {
  id: identity.id,
  url: text('text', 'The tracked address.'),
  token: text('text', 'The token in the address that names the affiliate.'),
  visitors: integer('Visitors that came through it, leads and conversions included.'),
  leads: integer('Leads that came through it, conversions included.'),
  conversions: integer('Conversions that came through it.'),
});
export const linkSchema = LINK.schema;
export type Link = z.infer<typeof linkSchema>;

/**
 * Beyond what the contract calls null, a time that marks an event may be null until the event: `confirmed_at` of an
 * affiliate who never confirmed, `payout_email_confirmed_at` if `payout_email` is empty (assumed). `campaign` is in
 * the contract's table, but a list shows it only if it is expanded.
 */
export const AFFILIATE = record('affiliates', {
  ...identity,
  first_name: text('text', 'First name.', 'null accepted'),
  last_name: text('text', 'Last name.', 'null accepted'),
  email: text('identity', 'Email address that the affiliate signs in with.'),
  payout_email: text(
    'address',
    'Email address at the payout provider; may be an empty string.',
    'null accepted',
    'paypal_email',
  ),
  confirmed_at: timestamp('When the affiliate confirmed the email address.', 'null accepted'),
  payout_email_confirmed_at: timestamp(
    'When the affiliate confirmed the payout email address.',
    'null accepted',
    'paypal_email_confirmed_at',
  ),
  receive_new_commission_notifications: boolean('Whether the affiliate is notified of each new commission.'),
  sign_in_count: integer('How often the affiliate signed in.'),
  unconfirmed_email: text('identity', 'New email address that waits to be confirmed.', 'or null'),
  processor_customer_id: text(
    'pseudonym',
    'Customer identifier at the payment processor, of an affiliate who is a customer too.',
    'or null',
    'stripe_customer_id',
  ),
  processor_account_id: text(
    'pseudonym',
    'Account identifier at the payment processor.',
    'or null',
    'stripe_account_id',
  ),
  visitors: integer('Visitors referred so far, leads and conversions included.'),
  leads: integer('Leads referred so far, conversions included.'),
  conversions: integer('Conversions referred so far.'),
  state: text('none', 'Such as active, disabled or suspicious; an open set.', 'seen in the wild'),
  wise_email: text('address', 'Email address at another payout provider.', 'seen in the wild'),
  wise_email_confirmed_at: timestamp('When the affiliate confirmed that address.', 'seen in the wild'),
  campaign: one(CAMPAIGN, 'expanded'),
  links: list(LINK, 'expanded'),
  commission_stats: json('figures', 'Commission totals by currency, kept whole.', 'expanded'),
});
export const affiliateSchema = AFFILIATE.schema;
export type Affiliate = z.infer<typeof affiliateSchema>;
