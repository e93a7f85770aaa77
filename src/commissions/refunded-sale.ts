// When a commission's sale counts as refunded in full: then nothing is owed for it any more. Pure.

import type { Commission } from '../contract/commission.ts';

/**
 * Returns in words how the commission's sale shows that it was refunded in full; null where it does not. The program
 * voids such a commission, and not every program says so.
 *
 * Source: contract, Voided commissions.
 * Decisions where that is silent:
 * - It counts whatever `state` says, since a program may refund a sale some time before it voids the commission
 *   (assumed). A person checks again; nobody is paid for nothing.
 * - More refunded than charged is refunded in full.
 * - A sale for which nothing was charged is not refunded: nothing can have been, and a commission for it is as good as
 *   any other. Its `sale_amount_cents` is 0 from the start.
 * - A sale that has none of the amounts says nothing.
 */
export function describeRefund({ sale }: Commission): string | null {
  if (sale === null || sale === undefined) return null;
  const { charge_amount_cents: charge, refund_amount_cents: refund, sale_amount_cents: left } = sale;
  if (charge !== undefined && charge <= 0) return null;
  if (charge !== undefined && refund !== undefined && refund >= charge) {
    return `its sale is fully refunded (${refund} of ${charge} cents)`;
  }
  return left === 0 ? 'its sale is fully refunded (sale_amount_cents is 0)' : null;
}
