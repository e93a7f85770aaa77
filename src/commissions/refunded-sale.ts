// Finds out whether a commission's sale was refunded whole: the program voids such a commission, and not every program
// says so. Pure.
//
// Source: contract, addendum: where neither `state` nor `voided_at` is sent, a voided commission shows itself only by
// its sale, with `refund_amount_cents` equal to `charge_amount_cents`, or `sale_amount_cents` 0.
// Decisions where that is silent:
// * It counts whatever `state` says, since a program may refund a sale some time before it voids the commission
//   (assumed). A person checks again; nobody is paid for nothing.
// * More refunded than charged is refunded whole.
// * A sale for which nothing was charged is not refunded: nothing can have been, and a commission for it is as good as
//   any other. Its `sale_amount_cents` is 0 from the start.
// * A sale that has none of the amounts says nothing.

import type { Commission } from '../contract/commission.ts';

/** Returns in words how the commission's sale shows that it was refunded whole; null where it does not. */
export function describeRefund({ sale }: Commission): string | null {
  if (sale === null || sale === undefined) return null;
  const { charge_amount_cents: charge, refund_amount_cents: refund, sale_amount_cents: left } = sale;
  if (charge !== undefined && charge <= 0) return null;
  if (charge !== undefined && refund !== undefined && refund >= charge) {
    return `its sale is fully refunded (${refund} of ${charge} cents)`;
  }
  return left === 0 ? 'its sale is fully refunded (sale_amount_cents is 0)' : null;
}
