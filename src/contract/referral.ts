// The referral: a visitor, lead or customer that an affiliate brought.
// Source: contract, Referral and Customer.

import { z } from 'zod';
import { affiliateSchema, linkSchema } from './affiliate.ts';
import { identity, integer, recordSchema, text, timestamp } from './fields.ts';

/** `id` is the processor's identifier, not a UUID. Names and emails have been seen null in the wild. */
export const customerSchema = recordSchema(
  {},
  { platform: text.nullable(), id: text.nullable(), name: text.nullable(), email: text.nullable() },
);

/**
 * A visitor has no customer yet, and a referral that came by coupon no link (both seen in the wild); hence a
 * visitor's `processor_*` identifiers may be null too, and a referral that never expires may have no `expires_at`
 * (assumed). `conversion_state` is an open set. `affiliate` is present where it was asked for. `became_*_at` and
 * `coupon` are seen in the wild; the coupon is kept whole.
 */
export const referralSchema = recordSchema(identity, {
  processor_account_id: text.nullable(),
  processor_customer_id: text.nullable(),
  conversion_state: text,
  deactivated_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  customer: customerSchema.nullable(),
  visits: integer,
  link: linkSchema.nullable(),
  became_lead_at: timestamp.nullable(),
  became_conversion_at: timestamp.nullable(),
  coupon: z.record(z.string(), z.unknown()).nullable(),
  affiliate: affiliateSchema.nullable(),
});

export type Referral = z.infer<typeof referralSchema>;
