// The referral: a visitor, lead or customer that an affiliate brought.
// Source: contract, Referral and Customer.

import type { z } from 'zod';
import { AFFILIATE, LINK } from './affiliate.ts';
import { identity, integer, json, one, part, record, text, timestamp } from './declare.ts';

/** `id` is the processor's identifier, not a UUID. Names and emails have been seen null in the wild. */
const CUSTOMER = {
  platform: text('none', 'Lower-case name of the payment processor.', 'null accepted'),
  id: text('pseudonym', 'Customer identifier at the payment processor.', 'null accepted'),
  name: text('text', 'Name of the customer.', 'null accepted'),
  email: text('identity', 'Email address of the customer.', 'null accepted'),
};

/**
 * A visitor has no customer yet, and a referral that came by coupon no link (both seen in the wild); hence a
 * visitor's `processor_*` identifiers may be null too, and a referral that never expires may have no `expires_at`
 * (assumed). `conversion_state` is an open set. `affiliate` is present if it was expanded.
 */
export const REFERRAL = record('referrals', {
  ...identity,
  processor_account_id: text(
    'none',
    'Account identifier at the payment processor.',
    'null accepted',
    'stripe_account_id',
  ),
  processor_customer_id: text(
    'pseudonym',
    'Customer identifier at the payment processor.',
    'null accepted',
    'stripe_customer_id',
  ),
  conversion_state: text('none', 'How far it got: lead or conversion, in the wild visitor too; an open set.'),
  deactivated_at: timestamp('When it was switched off; null while it counts.', 'or null'),
  expires_at: timestamp('When it stops earning commissions.', 'null accepted'),
  customer: part(CUSTOMER, 'null accepted'),
  visits: integer('Number of visits.'),
  // Before the link, which is the affiliate's: nested records are read in this order.
  affiliate: one(AFFILIATE, 'expanded'),
  link: one(LINK, 'null accepted'),
  became_lead_at: timestamp('When it became a lead.', 'seen in the wild'),
  became_conversion_at: timestamp('When it became a conversion.', 'seen in the wild'),
  coupon: json(
    'coupon',
    'The coupon that it came by, stored whole; null if it came by a link.',
    'seen in the wild',
  ),
});
export const referralSchema = REFERRAL.schema;
export type Referral = z.infer<typeof referralSchema>;
