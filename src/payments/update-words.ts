// The words for a request and its commission: the requested value, the present value, and notes. Pure.

import type { Commission } from '../contract/commission.ts';
import { spellTimestamp } from '../contract/timestamp.ts';
import { matchTimestamp } from './timestamps.ts';
import type { CommissionValues, UpdateRequest } from './update-request.ts';

/** Returns the timestamp that the request asks for. Throws: TypeError if it names none, or takes a payment back. */
export function wanted({ action, paid_at, due_at }: UpdateRequest): string {
  const timestamp = action === 'pay' ? paid_at : due_at;
  // The table's own checks make this impossible.
  if (timestamp === null) throw new TypeError(`a request to ${action} names no timestamp`);
  return timestamp;
}

/** Returns whether the commission was voided. */
export function isVoided({ state, voided_at }: Commission): boolean {
  return state === 'voided' || typeof voided_at === 'string';
}

export function describeVoided({ voided_at }: Commission): string {
  return `the commission is voided${typeof voided_at === 'string' ? ` since ${spellTimestamp(voided_at)}` : ''}`;
}

/** Describes the change: marked paid at … */
export function describeAsk(request: UpdateRequest): string {
  if (request.action === 'unpay') return 'marked unpaid';
  const timestamp = spellTimestamp(wanted(request));
  return request.action === 'pay' ? `marked paid at ${timestamp}` : `made payable from ${timestamp}`;
}

/** Describes the present value: is paid at … */
export function describeHeld({ action }: UpdateRequest, live: Commission): string {
  if (action !== 'due')
    return live.paid_at === null ? 'is unpaid' : `is paid at ${spellTimestamp(live.paid_at)}`;
  return typeof live.due_at === 'string'
    ? `is payable from ${spellTimestamp(live.due_at)}`
    : 'has no due date';
}

/** Returns a note if the commission was paid at another time before; else null. */
export function noteMoved(
  { action }: UpdateRequest,
  before: CommissionValues | null,
  { paid_at }: Commission,
): string | null {
  if (action !== 'pay' || before === null || before.paid_at === null) return null;
  if (matchTimestamp(before.paid_at, paid_at) !== 'different') return null;
  return `it was paid at ${spellTimestamp(before.paid_at)} before`;
}

/** Returns a note on a refund of the sale that a pay is for; else null. */
export function noteRefund(request: UpdateRequest, live: Commission): string | null {
  return request.action === 'pay' ? describeRefund(live) : null;
}

/** Returns a note if the commission is voided; else null. */
export function noteVoided(live: Commission): string | null {
  return isVoided(live) ? describeVoided(live) : null;
}

/** Returns the notes as one; null if there is none. */
export function joinNotes(notes: readonly (string | null)[]): string | null {
  const given = notes.filter((note) => note !== null);
  return given.length === 0 ? null : given.join('; ');
}

/** Returns the outcome of a request with its note. */
export function outcomeOf({ outcome, note }: { outcome: string; note: string | null }): string {
  return note === null ? outcome : `${outcome}; ${note}`;
}

/**
 * Describes how the commission's sale shows that it was refunded in full; null if it does not. An affiliate program
 * voids such a commission, and not every API says so: nothing is owed for it any more.
 *
 * Source: contract, Voided commissions.
 * Decisions on which that is silent:
 * - It counts with any `state`, since an affiliate program may refund a sale some time before it voids the commission
 *   (assumed). A user checks again; nothing is paid that is not owed.
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
