// The commission: what an affiliate earns from a sale. Source: contract, Resources and their fields, Commission.

import type { z } from 'zod';
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

export type Commission = z.infer<typeof commissionSchema>;
