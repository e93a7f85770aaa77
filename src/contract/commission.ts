// The commission: what an affiliate earns from a sale, which is one charge of a referred customer.
// Source: contract, Commission and Sale.

import { z } from 'zod';
import { affiliateSchema, campaignSchema } from './affiliate.ts';
import { identity, integer, recordSchema, text, timestamp } from './fields.ts';
import { referralSchema } from './referral.ts';

/** A charge may come without an invoice or a processor's identifier: those are null then (assumed). */
export const saleSchema = recordSchema(identity, {
  currency: text,
  charged_at: timestamp.nullable(),
  processor_account_id: text.nullable(),
  processor_charge_id: text.nullable(),
  invoiced_at: timestamp.nullable(),
  charge_amount_cents: integer,
  refund_amount_cents: integer,
  tax_amount_cents: integer,
  sale_amount_cents: integer,
  referral: referralSchema.nullable(),
  affiliate: affiliateSchema.nullable(),
});

export type Sale = z.infer<typeof saleSchema>;

/**
 * Amount, currency and `paid_at` (null while unpaid) are required: money is never guessed.
 * `state` and `voided_at` are seen in the wild; `due_at` may be null on a voided commission (assumed).
 */
export const commissionSchema = recordSchema(
  { ...identity, amount: integer, currency: text, paid_at: timestamp.nullable() },
  {
    due_at: timestamp.nullable(),
    state: text.nullable(),
    voided_at: timestamp.nullable(),
    campaign: campaignSchema.nullable(),
    sale: saleSchema.nullable(),
  },
);

const unchecked = z.unknown().optional();

/**
 * What a payment needs checked: the commission's own fields and its sale's. The campaign, referral and affiliate are
 * checked where they are stored: an odd field of an affiliate must not hold up a payment.
 */
export const payableCommissionSchema = z.looseObject({
  ...commissionSchema.shape,
  campaign: unchecked,
  sale: z.looseObject({ ...saleSchema.shape, referral: unchecked, affiliate: unchecked }).nullish(),
});

export type Commission = z.infer<typeof payableCommissionSchema>;
