// The sale: one charge of a referred customer. Source: contract, Resources and their fields, Sale.

import type { z } from 'zod';
import { affiliateSchema } from './affiliate.ts';
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
