// Decides about one request to pay a payout, given the payout as it is. Pure: the writer and the dry run call the same
// function, so a dry run shows the decision of the writer.
//
// The API dates the payment itself, and pays all commissions of the payout or none. So what is to be paid is read right
// before: a payout that is not just what was asked for is left alone.

import { MONEY, type MoneyFormat } from '../contract/money.ts';
import type { EndState } from '../contract/payment-request.ts';
import type { Payout } from '../contract/payout.ts';
import { spellTimestamp } from '../contract/timestamp.ts';
import type { Ending } from './judge-update.ts';
import type { PayoutRequest, PayoutValues } from './payout-request.ts';
import { joinNotes } from './update-words.ts';

/** Why a commission of a payout is not to be paid, by the mirror and the payment ledger. */
export interface Obstacle {
  readonly commission_id: string;
  /** `refunded` covers voided ones too: even_if_refunded pays both. */
  readonly kind: 'refunded' | 'waits' | 'paid';
  readonly says: string;
}

/** What the writer knows beside the reading. */
export interface PayoutHistory {
  /** Whether an earlier PUT for the request may have arrived. */
  readonly isSent: boolean;
  /** Milliseconds since that was sent; if nothing was, since the request was made. */
  readonly waitedMs: number;
  readonly obstacles: readonly Obstacle[];
}

/** End here; pay; or read it again, since it is being paid. */
export type PayoutVerdict = Ending | { readonly kind: 'write' } | { readonly kind: 'wait' };

/** States in which a payout is still to be paid. Source: contract, Payouts. */
const TO_BE_PAID = ['pending', 'due'];
/** Milliseconds. A payout that is being paid for longer needs a person. */
export const LONGEST_MS = 86_400_000;

/** Returns the decision. `money` formats amounts in the outcome. */
export function judgePayout(
  request: PayoutRequest,
  live: Payout,
  { isSent, waitedMs, obstacles }: PayoutHistory,
  money: MoneyFormat = MONEY.minor,
): PayoutVerdict {
  const failures = unmetExpectations(request, live, money);
  const commissions = live.commissions ?? [];
  const unpaid = commissions.filter(({ paid_at }) => paid_at === null);
  const isPaid = live.state === 'paid';
  if (isPaid && isSent && (unpaid.length === 0 || waitedMs >= LONGEST_MS)) {
    if (unpaid.length > 0) return end('failed', `the payout is paid, but ${describeUnpaid(unpaid)}`, null);
    const changed = failures.length === 0 ? null : `changed meanwhile: ${failures.join('; ')}`;
    return end('applied', `paid${paidAt(live)}, with ${count(commissions.length)}`, changed);
  }
  if (!isSent && failures.length > 0) return conflict(failures, isSent);
  if (isPaid && !isSent) {
    const note = unpaid.length === 0 ? null : describeUnpaid(unpaid);
    return end('unchanged', `is paid${paidAt(live)} already: nothing was sent`, note);
  }
  if (!isToBePaid(live)) {
    if (!isSent && live.state !== 'processing') {
      return conflict([`its state is ${live.state}, in which it is not to be paid`], isSent);
    }
    if (waitedMs < LONGEST_MS) return { kind: 'wait' };
    const since = isSent ? 'it was sent' : 'it was asked for, and another user pays it';
    return end('failed', `the payout is still ${live.state} a day after ${since}`, null);
  }
  if (failures.length > 0) return conflict(failures, isSent);
  if (live.commissions === undefined || live.commissions.length === 0) {
    return conflict(['the API shows no commissions of it'], isSent);
  }
  const paid = commissions
    .filter(({ paid_at }) => paid_at !== null)
    .map(({ id }): Obstacle => ({ commission_id: id, kind: 'paid', says: 'is paid already' }));
  const against = [...paid, ...obstacles].filter(
    ({ kind }) => kind !== 'refunded' || !request.even_if_refunded,
  );
  if (against.length === 0) return { kind: 'write' };
  const named = against.slice(0, MOST_NAMED).map(({ commission_id, says }) => `${commission_id} ${says}`);
  const more = against.length > MOST_NAMED ? [`and ${against.length - MOST_NAMED} more`] : [];
  const isRefund = against.every(({ kind }) => kind === 'refunded');
  return conflict([`commission ${[...named, ...more].join(', ')}`], isSent, isRefund ? PAY_ANYWAY : SEE_DUE);
}

/** Returns whether the payout is neither paid nor being paid. */
export function isToBePaid({ state }: Payout): boolean {
  return TO_BE_PAID.includes(state);
}

/** Returns how the request ends if a payout is still to be paid after the API accepted to pay it. */
export function stillToBePaid({ state }: Payout): Ending {
  return end('failed', `the API accepted to pay the payout, and still has it as ${state}`, null);
}

/** Describes the payment, in words. */
export function describePayment(live: Payout, money: MoneyFormat): string {
  return `pay ${money.format(live.amount, live.currency)} with ${count(live.commissions?.length ?? 0)}; its state is ${live.state} now`;
}

export function payoutValuesOf(payout: Payout): PayoutValues {
  const { paid_at, amount, currency, state, updated_at, commissions } = payout;
  return { paid_at, amount, currency, state, updated_at, commissions: commissions?.length ?? null };
}

const MOST_NAMED = 3;
const PAY_ANYWAY =
  'to pay it all the same, ask anew with even_if_refunded (--even-if-refunded at the command line)';
export const NO_SUCH_PAYOUT = 'the affiliate program has no such payout';
/** What to run next, where the payout is not what was asked for. */
export const SEE_DUE = '"affiliate-mirror sync payouts" and then "payouts list" show what is due now';
const SENT_BEFORE = 'an earlier try sent the payment, and its answer was lost: the API has not taken it';

function conflict(failures: readonly string[], isSent: boolean, note = SEE_DUE): Ending {
  const nothing = isSent ? 'nothing more was sent' : 'nothing was sent';
  return end(
    'conflict',
    `${failures.join('; ')}: ${nothing}`,
    joinNotes([isSent ? SENT_BEFORE : null, note]),
  );
}

function end(state: EndState, outcome: string, note: string | null): Ending {
  return { kind: 'end', state, outcome, note };
}

function count(commissions: number): string {
  return commissions === 1 ? '1 commission' : `${commissions} commissions`;
}

function describeUnpaid(unpaid: readonly { readonly id: string }[]): string {
  return `${count(unpaid.length)} of it ${unpaid.length === 1 ? 'is' : 'are'} not: ${unpaid[0]?.id}`;
}

function paidAt({ paid_at }: Payout): string {
  return paid_at === null ? '' : ` at ${spellTimestamp(paid_at)}`;
}

function unmetExpectations(request: PayoutRequest, live: Payout, money: MoneyFormat): string[] {
  const { expected_amount: amount, expected_currency: currency, expected_commissions } = request;
  const has = live.currency.toUpperCase();
  const failures: string[] = [];
  if (amount !== null && amount !== live.amount) {
    failures.push(
      `expected the amount ${money.format(amount, currency ?? has)}, but it is ${money.format(live.amount, has)}`,
    );
  }
  if (currency !== null && currency.toUpperCase() !== has) {
    failures.push(`expected the currency ${currency}, but it is ${has}`);
  }
  const listed = live.commissions?.length ?? 0;
  if (expected_commissions !== null && expected_commissions !== listed) {
    failures.push(`expected ${count(expected_commissions)}, but it has ${listed}`);
  }
  return failures;
}
