// Lines of the payment ledger, whole: the report commission_ledger.

import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { ACTIONS } from '../contract/payment-request.ts';
import type { Database } from '../db/database.ts';
import { count, text, timestamp, updateState } from './fields.ts';

export const paymentLine = z.object({
  request: count('its number'),
  batch: text('the batch that it was asked for in').nullable(),
  commission_id: text('identifier of the commission; null of a payout').nullable(),
  action: z.enum(ACTIONS).describe('what it does'),
  asked: text('what was asked for'),
  state: updateState,
  outcome: text('its outcome'),
  note: text('a further note on the outcome').nullable(),
  reason: text('why it was asked for').nullable(),
  requested_by: text('who asked'),
  requested_at: timestamp('when'),
  finished_at: timestamp('when it ended; null while it waits').nullable(),
  amount: z.int().describe('amount of the commission or payout, as last seen').nullable(),
  currency: text('its currency').nullable(),
  paid_at_before: timestamp('when it was paid before; null: unpaid, or not read yet').nullable(),
  paid_at_after: timestamp('when it was paid after the request; null: unpaid, or not read yet').nullable(),
  due_at_before: timestamp('from when it was payable before').nullable(),
  due_at_after: timestamp('from when it was payable after the request').nullable(),
  affiliate_id: text('the affiliate who earns the commission or is paid').nullable(),
  affiliate_name: z.string().nullable(),
  affiliate_email: z.string().nullable(),
  puts: count('changes that were sent to the API'),
  payout_id: text('the payout to be paid; of a commission, the payout that lists it').nullable(),
  commissions: count('commissions of the request; null: the payout was not read yet').nullable(),
  commission_ids: z
    .array(z.string())
    .describe('the commissions of the payout when the payment was sent; null otherwise')
    .nullable(),
});

export type PaymentLine = z.infer<typeof paymentLine>;

/** Returns the lines of the requests that fit the condition on commission_updates, oldest first. */
export async function readPaymentLedger(
  db: Database,
  condition: RawBuilder<unknown>,
): Promise<PaymentLine[]> {
  const { rows } = await sql<PaymentLine>`
    select * from commission_ledger
    where request in (select id from commission_updates where ${condition})
    order by request
  `.execute(db);
  return rows;
}
