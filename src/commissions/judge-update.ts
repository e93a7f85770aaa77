// Decides what to do about one request, given what the program has. Pure: the writer and the dry run call the same
// function, so a dry run shows what would happen.

import { isNotFound } from '../api/refusal.ts';
import type { CommissionChange } from '../api/request-parameters.ts';
import type { AmountUnit } from '../config/amount-unit.ts';
import type { Commission } from '../contract/commission.ts';
import { formatMoney } from '../contract/money.ts';
import { spellTimestamp } from '../contract/timestamp.ts';
import type { ApiRejected } from '../errors.ts';
import { ANSWERED_OTHERWISE, VOIDED } from '../personal-data/own-words.ts';
import { matchTimestamp } from './timestamps.ts';
import type { CommissionValues, EndState, UpdateRequest } from './update-request.ts';

/** An end, with its reason in words. */
export interface Ending {
  readonly kind: 'end';
  readonly state: EndState;
  readonly outcome: string;
  readonly note: string | null;
}

export type UpdateVerdict =
  | Ending
  | {
      readonly kind: 'write';
      readonly change: CommissionChange;
      /** What else to know beforehand. */
      readonly note: string | null;
    };

/**
 * Returns what to do: write, or end here. `mayBeSent` says that an earlier PUT for this request may have
 * arrived: then a commission that holds what was asked was changed by us, and what was expected before no longer
 * counts. `unit` is what the program counts amounts in, for the words.
 */
export function judgeUpdate(
  request: UpdateRequest,
  live: Commission,
  mayBeSent: boolean,
  unit: AmountUnit = 'minor',
): UpdateVerdict {
  const held = isHeld(request, live);
  if (mayBeSent && held !== 'different') {
    return end(
      'applied',
      describeAsk(request),
      joinNotes([LOST_ANSWER, noteCut(request, live), noteRefund(request, live)]),
    );
  }
  const nothingSent = mayBeSent ? 'nothing more was sent' : 'nothing was sent';
  const sentBefore = mayBeSent ? SENT_BEFORE : null;
  const failures = unmetExpectations(request, live, unit);
  if (failures.length > 0) {
    return end(
      'conflict',
      `${failures.join('; ')}: ${nothingSent}`,
      held === 'different' ? sentBefore : HELD_ANYWAY,
    );
  }
  if (isVoided(live)) {
    const when = typeof live.voided_at === 'string' ? ` since ${spellTimestamp(live.voided_at)}` : '';
    return end('rejected', `${VOIDED}${when}: ${nothingSent}`, sentBefore);
  }
  if (held !== 'different') {
    return end(
      'unchanged',
      `${describeHeld(request, live)} already: nothing was sent`,
      joinNotes([noteCut(request, live), noteRefund(request, live)]),
    );
  }
  const refund = noteRefund(request, live);
  if (refund !== null && !request.even_if_refunded) {
    return end('conflict', `${refund}: ${nothingSent}`, joinNotes([sentBefore, PAY_ANYWAY]));
  }
  return { kind: 'write', change: changeOf(request), note: refund };
}

/** Returns how the request ends after the program's answer to its PUT. */
export function judgeAnswer(request: UpdateRequest, answer: Commission, unit: AmountUnit = 'minor'): Ending {
  if (isHeld(request, answer) !== 'different') {
    return end(
      'applied',
      describeAsk(request),
      joinNotes([noteCut(request, answer), noteRefund(request, answer), noteChanged(request, answer, unit)]),
    );
  }
  return end('failed', `${ANSWERED_OTHERWISE} that the commission ${describeHeld(request, answer)}`, null);
}

export interface Refusal extends Ending {
  readonly state: 'not_found' | 'rejected';
}

/** Returns how the request ends that the program refuses, while it answers others. */
export function refusalOf(error: ApiRejected): Refusal {
  const [state, outcome] = isNotFound(error)
    ? (['not_found', NOT_FOUND] as const)
    : (['rejected', error.message] as const);
  return { kind: 'end', state, outcome, note: null };
}

/** Returns what a write would do, in words. */
export function describeChange(request: UpdateRequest, live: Commission): string {
  const ask = describeAsk(request)
    .replace(/^marked/, 'mark')
    .replace(/^made/, 'make');
  return `${ask}; it ${describeHeld(request, live)} now`;
}

/** Returns the part of the commission that the payment ledger keeps. */
export function valuesOf(commission: Commission): CommissionValues {
  const { paid_at, due_at = null, amount, currency, state = null, voided_at = null } = commission;
  return { paid_at, due_at, amount, currency, state, voided_at };
}

export const NOT_FOUND = 'the program has no such commission';

const LOST_ANSWER = 'the answer to the change was lost; reading the commission showed that it had arrived';
const SENT_BEFORE =
  'an earlier try sent the change, and its answer was lost: the commission does not hold it, or no longer';
const HELD_ANYWAY =
  'the commission holds what was asked for all the same: make sure that it was not paid twice';

const PAY_ANYWAY =
  'to pay it all the same, ask anew with even_if_refunded (--even-if-refunded at the command line)';

function end(state: EndState, outcome: string, note: string | null): Ending {
  return { kind: 'end', state, outcome, note };
}

function changeOf(request: UpdateRequest): CommissionChange {
  if (request.action === 'unpay') return { paid_at: null };
  if (request.action === 'pay') return { paid_at: spellTimestamp(wanted(request)) };
  return { due_at: spellTimestamp(wanted(request)) };
}

function isHeld(request: UpdateRequest, live: Commission): 'same' | 'cut' | 'different' {
  if (request.action === 'unpay') return live.paid_at === null ? 'same' : 'different';
  return matchTimestamp(wanted(request), (request.action === 'pay' ? live.paid_at : live.due_at) ?? null);
}

function wanted({ action, paid_at, due_at }: UpdateRequest): string {
  const timestamp = action === 'pay' ? paid_at : due_at;
  // The table's own checks make this impossible.
  if (timestamp === null) throw new TypeError(`a request to ${action} names no timestamp`);
  return timestamp;
}

function unmetExpectations(request: UpdateRequest, live: Commission, unit: AmountUnit): string[] {
  const failures: string[] = [];
  const paid = live.paid_at === null ? 'it is unpaid' : `it is paid at ${spellTimestamp(live.paid_at)}`;
  if (request.expected_unpaid && live.paid_at !== null)
    failures.push(`expected it to be unpaid, but ${paid}`);
  if (
    request.expected_paid_at !== null &&
    matchTimestamp(request.expected_paid_at, live.paid_at) === 'different'
  ) {
    failures.push(`expected it to be paid at ${spellTimestamp(request.expected_paid_at)}, but ${paid}`);
  }
  return [...failures, ...unmetMoney(request, live, unit)];
}

function unmetMoney(request: UpdateRequest, live: Commission, unit: AmountUnit): string[] {
  const failures: string[] = [];
  const currency = live.currency.toUpperCase();
  if (request.expected_amount !== null && request.expected_amount !== live.amount) {
    const expected = formatMoney(request.expected_amount, request.expected_currency ?? currency, unit);
    failures.push(`expected the amount ${expected}, but it is ${formatMoney(live.amount, currency, unit)}`);
  }
  if (request.expected_currency !== null && request.expected_currency.toUpperCase() !== currency) {
    failures.push(`expected the currency ${request.expected_currency}, but it is ${currency}`);
  }
  return failures;
}

function isVoided({ state, voided_at }: Commission): boolean {
  return state === 'voided' || typeof voided_at === 'string';
}

function describeAsk(request: UpdateRequest): string {
  if (request.action === 'unpay') return 'marked unpaid';
  const timestamp = spellTimestamp(wanted(request));
  return request.action === 'pay' ? `marked paid at ${timestamp}` : `made payable from ${timestamp}`;
}

function describeHeld({ action }: UpdateRequest, live: Commission): string {
  if (action !== 'due')
    return live.paid_at === null ? 'is unpaid' : `is paid at ${spellTimestamp(live.paid_at)}`;
  return typeof live.due_at === 'string'
    ? `is payable from ${spellTimestamp(live.due_at)}`
    : 'has no due date';
}

function noteCut(request: UpdateRequest, live: Commission): string | null {
  if (isHeld(request, live) !== 'cut') return null;
  const held = (request.action === 'pay' ? live.paid_at : live.due_at) ?? '';
  return `the program keeps ${spellTimestamp(held)}: it cut the fraction of the second`;
}

function noteRefund(request: UpdateRequest, live: Commission): string | null {
  return request.action === 'pay' ? describeRefund(live) : null;
}

function noteChanged(request: UpdateRequest, answer: Commission, unit: AmountUnit): string | null {
  const failures = unmetMoney(request, answer, unit);
  return failures.length === 0 ? null : `changed meanwhile: ${failures.join('; ')}`;
}

function joinNotes(notes: readonly (string | null)[]): string | null {
  const given = notes.filter((note) => note !== null);
  return given.length === 0 ? null : given.join('; ');
}

/**
 * Returns in words how the commission's sale shows that it was refunded whole; null where it does not. The program
 * voids such a commission, and not every program says so.
 *
 * Source: contract, Voided commissions.
 * Decisions where that is silent:
 * - It counts whatever `state` says, since a program may refund a sale some time before it voids the commission
 *   (assumed). A person checks again; nobody is paid for nothing.
 * - More refunded than charged is refunded whole.
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
