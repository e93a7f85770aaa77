// The commission: what an affiliate earns from a sale, which is one charge of a referred customer.
// Source: contract, Commission and Sale.

import { z } from 'zod';
import { AFFILIATE, CAMPAIGN } from './affiliate.ts';
import { identity, integer, one, record, text, timestamp } from './declare.ts';
import { REFERRAL } from './referral.ts';

/** A charge may come without an invoice or a processor's identifier: those are null then (assumed). */
export const SALE = record('sales', {
  ...identity,
  currency: text('none', 'Currency code of its amounts.'),
  charged_at: timestamp('When the customer was charged.', 'null accepted'),
  processor_account_id: text(
    'none',
    'Account identifier at the payment processor.',
    'null accepted',
    'stripe_account_id',
  ),
  processor_charge_id: text(
    'none',
    'Charge identifier at the payment processor.',
    'null accepted',
    'stripe_charge_id',
  ),
  invoiced_at: timestamp('When it was invoiced.', 'null accepted'),
  charge_amount_cents: integer('Amount charged.'),
  refund_amount_cents: integer('Amount refunded.'),
  tax_amount_cents: integer('Tax within the amount.'),
  sale_amount_cents: integer('Amount that commissions are calculated from.'),
  referral: one(REFERRAL, 'null accepted'),
  affiliate: one(AFFILIATE, 'null accepted'),
});
const saleSchema = SALE.schema;
export type Sale = z.infer<typeof saleSchema>;

/**
 * Amount, currency and `paid_at` (null while unpaid) are required: money is never guessed. `due_at` may be null on a
 * voided commission (assumed). A list shows `campaign` and `sale` only if they are expanded.
 */
export const COMMISSION = record(
  'commissions',
  {
    ...identity,
    amount: integer('Amount, in a unit that the API does not name.'),
    currency: text('none', 'Currency code of the amount.'),
    due_at: timestamp('When the commission becomes payable to the affiliate.', 'null accepted'),
    paid_at: timestamp('When it was paid; null while it is unpaid.', 'or null'),
    state: text('none', 'Such as pending, due, paid or voided; an open set.', 'seen in the wild'),
    voided_at: timestamp('When it was voided; null if it was not.', 'seen in the wild'),
    // Only a commission within a payout has it.
    processor_account_id: text(
      'none',
      'Account identifier at the payment processor.',
      'expanded',
      'stripe_account_id',
    ),
    campaign: one(CAMPAIGN, 'null accepted'),
    sale: one(SALE, 'null accepted'),
  },
  ['amount', 'currency', 'paid_at'],
);
export const commissionSchema = COMMISSION.schema;

const unchecked = z.unknown().optional();

/**
 * For payments: only the commission's own fields and its sale's are checked. The campaign, referral and affiliate are
 * checked when they are stored: an invalid field of an affiliate must not hold up a payment.
 */
export const payableCommissionSchema = z.looseObject({
  ...commissionSchema.shape,
  campaign: unchecked,
  sale: z.looseObject({ ...saleSchema.shape, referral: unchecked, affiliate: unchecked }).nullish(),
});

export type Commission = z.infer<typeof payableCommissionSchema>;
