// The payout: commissions of one affiliate in one currency that the affiliate program pays together.
// Source: contract, Payouts.

import { z } from 'zod';
import { AFFILIATE } from './affiliate.ts';
import { COMMISSION, payableCommissionSchema } from './commission.ts';
import { identity, integer, list, one, record, text, timestamp } from './declare.ts';

/** Amount, currency, state and `paid_at` are required: money is never guessed. Its commissions are partial views. */
export const PAYOUT = record(
  'payouts',
  {
    ...identity,
    amount: integer('Amount, in the unit of the amounts of commissions.'),
    currency: text('none', 'Currency code of the amount.'),
    state: text('none', 'Such as pending, due, processing or paid; an open set.'),
    paid_at: timestamp('When it was paid; null while it is unpaid.', 'or null'),
    paid_by_id: text('none', 'Identifier of the user of the affiliate program who paid it.', 'or null'),
    affiliate: one(AFFILIATE, 'expanded'),
    commissions: list(COMMISSION, 'expanded'),
  },
  ['amount', 'currency', 'state', 'paid_at'],
);
export const payoutSchema = PAYOUT.schema;

/** For payments: the affiliate is checked when it is stored, as that of a commission is. */
export const payablePayoutSchema = z.looseObject({
  ...payoutSchema.shape,
  affiliate: z.unknown().optional(),
  commissions: z.array(payableCommissionSchema).optional(),
});

export type Payout = z.infer<typeof payablePayoutSchema>;
