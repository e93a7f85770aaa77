// Decides about one request, given the commission as it is. Pure: the writer and the dry run call the same function, so
// a dry run shows the decision of the writer.

import { isGone } from '../api/refusal.ts';
import type { CommissionChange } from '../api/request-parameters.ts';
import type { ApiRejected } from '../base/errors.ts';
import type { Commission } from '../contract/commission.ts';
import { MONEY, type MoneyFormat } from '../contract/money.ts';
import type { EndState } from '../contract/payment-request.ts';
import { spellTimestamp } from '../contract/timestamp.ts';
import { matchTimestamp } from './timestamps.ts';
import type { UpdateRequest } from './update-request.ts';
import { type CommissionValues, isChangedSince } from './update-request.ts';
import {
  describeAsk,
  describeHeld,
  describeVoided,
  isVoided,
  joinNotes,
  noteMoved,
  noteRefund,
  noteVoided,
  wanted,
} from './update-words.ts';

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
      readonly note: string | null;
    };

/** An earlier PUT for the request that may have arrived. */
export interface SentBefore {
  /** The commission when the PUT was sent; null if that is not known. */
  readonly on: CommissionValues | null;
}

/**
 * Returns the decision: write, or end here. If an earlier change may have arrived, a commission with the requested
 * value was changed by us, and expectations no longer count; a commission that differs from its state then was changed
 * by another user since, and is not overwritten. `money` formats amounts in the outcome.
 */
export function judgeUpdate(
  request: UpdateRequest,
  live: Commission,
  sent: SentBefore | null,
  money: MoneyFormat = MONEY.minor,
): UpdateVerdict {
  const held = isHeld(request, live);
  if (sent !== null && held !== 'different') {
    return end(
      'applied',
      describeAsk(request),
      joinNotes([
        LOST_ANSWER,
        noteMoved(request, sent.on, live),
        noteCut(request, live),
        noteRefund(request, live),
        noteVoided(live),
      ]),
    );
  }
  const nothingSent = sent === null ? 'nothing was sent' : 'nothing more was sent';
  const sentBefore = sent === null ? null : SENT_BEFORE;
  const failures = unmetExpectations(request, live, money);
  if (failures.length > 0) {
    return end(
      'conflict',
      `${failures.join('; ')}: ${nothingSent}`,
      held === 'different' ? sentBefore : HELD_ANYWAY,
    );
  }
  if (isVoided(live)) return end('rejected', `${describeVoided(live)}: ${nothingSent}`, sentBefore);
  if (held !== 'different') {
    return end(
      'unchanged',
      `${describeHeld(request, live)} already: nothing was sent`,
      joinNotes([noteCut(request, live), noteRefund(request, live)]),
    );
  }
  if (sent?.on && isChangedSince(sent.on, live)) {
    return end(
      'conflict',
      `another user changed it since an earlier try: it ${describeHeld(request, live)}: ${nothingSent}`,
      sentBefore,
    );
  }
  const refund = noteRefund(request, live);
  if (refund !== null && !request.even_if_refunded) {
    return end('conflict', `${refund}: ${nothingSent}`, joinNotes([sentBefore, PAY_ANYWAY]));
  }
  return { kind: 'write', change: changeOf(request), note: refund };
}

/**
 * Returns how the request ends after the answer to its PUT; `before` is the commission when that was sent, null if it
 * is not known.
 */
export function judgeAnswer(
  request: UpdateRequest,
  before: CommissionValues | null,
  answer: Commission,
  money: MoneyFormat = MONEY.minor,
): Ending {
  if (isHeld(request, answer) !== 'different') {
    return end(
      'applied',
      describeAsk(request),
      joinNotes([
        noteMoved(request, before, answer),
        noteCut(request, answer),
        noteRefund(request, answer),
        noteVoided(answer),
        noteChanged(request, answer, money),
      ]),
    );
  }
  return end(
    'failed',
    `the API accepted the change, but answered that the commission ${describeHeld(request, answer)}`,
    null,
  );
}

/**
 * Returns how the request ends by a reading after a PUT whose answer did not show the change: an API may answer with
 * the commission before the change.
 */
export function judgeReading(
  request: UpdateRequest,
  before: CommissionValues | null,
  live: Commission,
  money: MoneyFormat = MONEY.minor,
): Ending {
  const ending = judgeAnswer(request, before, live, money);
  return ending.state === 'applied' ? { ...ending, note: joinNotes([NOT_IN_ANSWER, ending.note]) } : ending;
}

export interface Refusal extends Ending {
  readonly state: 'not_found' | 'rejected' | 'failed';
}

/**
 * Returns how a request ends that is refused while the API answers others: as failed if a proxy in front of the API
 * refuses it.
 */
export function refusalOf(error: ApiRejected, sent: SentBefore | null = null): Refusal {
  const note = sent === null ? null : SENT_BEFORE;
  if (isGone(error)) return { kind: 'end', state: 'not_found', outcome: NOT_FOUND, note };
  // The only text that quotes the API: finance needs its reason.
  const outcome = [error.message, ...error.details].join(': ');
  return { kind: 'end', state: error.isOfProgram ? 'rejected' : 'failed', outcome, note };
}

/** Describes the write, in words. */
export function describeChange(request: UpdateRequest, live: Commission): string {
  const ask = describeAsk(request)
    .replace(/^marked/, 'mark')
    .replace(/^made/, 'make');
  return `${ask}; it ${describeHeld(request, live)} now`;
}

export const NOT_FOUND = 'the affiliate program has no such commission';

const LOST_ANSWER = 'the answer to the change was lost; reading the commission showed that it had arrived';
const NOT_IN_ANSWER =
  'the answer to the change did not show it; reading the commission showed that it had arrived';
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

function unmetExpectations(request: UpdateRequest, live: Commission, money: MoneyFormat): string[] {
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
  return [...failures, ...unmetMoney(request, live, money)];
}

function unmetMoney(request: UpdateRequest, live: Commission, money: MoneyFormat): string[] {
  const failures: string[] = [];
  const currency = live.currency.toUpperCase();
  if (request.expected_amount !== null && request.expected_amount !== live.amount) {
    const expected = money.format(request.expected_amount, request.expected_currency ?? currency);
    failures.push(`expected the amount ${expected}, but it is ${money.format(live.amount, currency)}`);
  }
  if (request.expected_currency !== null && request.expected_currency.toUpperCase() !== currency) {
    failures.push(`expected the currency ${request.expected_currency}, but it is ${currency}`);
  }
  return failures;
}

function noteCut(request: UpdateRequest, live: Commission): string | null {
  if (isHeld(request, live) !== 'cut') return null;
  const held = (request.action === 'pay' ? live.paid_at : live.due_at) ?? '';
  return `the affiliate program stores ${spellTimestamp(held)}: it cut the fraction of the second`;
}

function noteChanged(request: UpdateRequest, answer: Commission, money: MoneyFormat): string | null {
  const failures = unmetMoney(request, answer, money);
  return failures.length === 0 ? null : `changed meanwhile: ${failures.join('; ')}`;
}
