// A request and its commission in words: what is asked for, what the program has, and what else to know. Pure.

import type { Commission } from '../contract/commission.ts';
import { spellTimestamp } from '../contract/timestamp.ts';
import type { CommissionValues } from './commission-values.ts';
import { describeRefund } from './refunded-sale.ts';
import { matchTimestamp } from './timestamps.ts';
import type { UpdateRequest } from './update-request.ts';

/** Returns the timestamp that the request asks for. Throws: TypeError where it names none, or takes a payment back. */
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

/** Returns that in words, with since when. */
export function describeVoided({ voided_at }: Commission): string {
  return `the commission is voided${typeof voided_at === 'string' ? ` since ${spellTimestamp(voided_at)}` : ''}`;
}

/** Returns what the request does, once it is done: marked paid at … */
export function describeAsk(request: UpdateRequest): string {
  if (request.action === 'unpay') return 'marked unpaid';
  const timestamp = spellTimestamp(wanted(request));
  return request.action === 'pay' ? `marked paid at ${timestamp}` : `made payable from ${timestamp}`;
}

/** Returns what the commission has of what the request is about: is paid at … */
export function describeHeld({ action }: UpdateRequest, live: Commission): string {
  if (action !== 'due')
    return live.paid_at === null ? 'is unpaid' : `is paid at ${spellTimestamp(live.paid_at)}`;
  return typeof live.due_at === 'string'
    ? `is payable from ${spellTimestamp(live.due_at)}`
    : 'has no due date';
}

/** Returns that the commission was paid at another time before, which the payment itself does not say; else null. */
export function noteMoved(
  { action }: UpdateRequest,
  before: CommissionValues | null,
  { paid_at }: Commission,
): string | null {
  if (action !== 'pay' || before === null || before.paid_at === null) return null;
  if (matchTimestamp(before.paid_at, paid_at) !== 'different') return null;
  return `it was paid at ${spellTimestamp(before.paid_at)} before`;
}

/** Returns what a pay has to know of a refund of the sale; null where there is none. */
export function noteRefund(request: UpdateRequest, live: Commission): string | null {
  return request.action === 'pay' ? describeRefund(live) : null;
}

/** Returns that the commission is voided; null where it is not. */
export function noteVoided(live: Commission): string | null {
  return isVoided(live) ? describeVoided(live) : null;
}

/** Returns the notes as one; null where there is none. */
export function joinNotes(notes: readonly (string | null)[]): string | null {
  const given = notes.filter((note) => note !== null);
  return given.length === 0 ? null : given.join('; ');
}
