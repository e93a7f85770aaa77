// The commission: what an affiliate earns from a sale. Source: contract, Resources and their fields, Commission.

import { z } from 'zod';
import { campaignSchema } from './campaign.ts';
import { identity, instant, integer, recordSchema, text } from './fields.ts';
import { saleSchema } from './sale.ts';

/**
 * Amount, currency and `paid_at` (null while unpaid) are required: money is never guessed.
 * `state` and `voided_at` are seen in the wild; `due_at` may be null on a voided commission (assumed).
 */
export const commissionSchema = recordSchema(
  { ...identity, amount: integer, currency: text, paid_at: instant.nullable() },
  {
    due_at: instant.nullable(),
    state: text.nullable(),
    voided_at: instant.nullable(),
    campaign: campaignSchema.nullable(),
    sale: saleSchema.nullable(),
  },
);

const unchecked = z.unknown().optional();

/**
 * What a payment rests on: the commission's own fields and its sale's. Whom it is about (campaign, referral, affiliate)
 * is judged where it is stored: an odd field of an affiliate must not hold up a payment.
 */
export const payableCommissionSchema = z.looseObject({
  ...commissionSchema.shape,
  campaign: unchecked,
  sale: z.looseObject({ ...saleSchema.shape, referral: unchecked, affiliate: unchecked }).nullish(),
});

export type Commission = z.infer<typeof payableCommissionSchema>;
