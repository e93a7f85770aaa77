// A payment request and its states. Pure; the comments in the database explain the columns.

import type { Commission } from '../contract/commission.ts';
import type { Action, UpdateState } from '../contract/payment-request.ts';
import { type Timestamp, toMicros } from '../contract/timestamp.ts';
import { keyOf } from './content-key.ts';
import type { ClaimedPayout } from './payout-request.ts';

/** The ends after which the affiliate program has the requested value. */
export const GOOD_STATES: readonly UpdateState[] = ['applied', 'unchanged'];

/** The ends that need a user: the affiliate program does not have the requested value. */
export const BAD_STATES: readonly UpdateState[] = ['conflict', 'not_found', 'rejected', 'failed'];

/** The ends without the requested value, on purpose or not. */
export const UNMET_STATES: readonly UpdateState[] = [...BAD_STATES, 'superseded', 'cancelled'];

/** The table refuses a longer one. */
export const LONGEST_KEY = 200;

/** Each field is the column of the same name. Timestamps are ISO 8601 with a zone. */
export interface UpdateRequest {
  readonly commission_id: string;
  readonly action: Action;
  readonly paid_at: Timestamp | null;
  readonly due_at: Timestamp | null;
  readonly expected_unpaid: boolean;
  readonly expected_paid_at: Timestamp | null;
  readonly expected_amount: number | null;
  readonly expected_currency: string | null;
  readonly reason: string | null;
  readonly idempotency_key: string | null;
  readonly supersede: boolean;
  /** Pays even if the sale was refunded in full. */
  readonly even_if_refunded: boolean;
}

/** A request as the writer works on it. */
export interface ClaimedUpdate extends UpdateRequest {
  readonly payout_id: null;
  readonly id: number;
  readonly attempts: number;
  /** Set if an earlier try may have sent the change. */
  readonly put_sent_at: Timestamp | null;
  /** The commission then; null if that is not known. */
  readonly before: CommissionValues | null;
}

/** A request for a commission or for a payout. */
export type Claimed = ClaimedUpdate | ClaimedPayout;

/** Returns the request with everything optional filled in: null or false. */
export function plainRequest(
  request: Pick<UpdateRequest, 'commission_id' | 'action'> & Partial<UpdateRequest>,
): UpdateRequest {
  return {
    paid_at: null,
    due_at: null,
    expected_unpaid: false,
    expected_paid_at: null,
    expected_amount: null,
    expected_currency: null,
    reason: null,
    idempotency_key: null,
    supersede: false,
    even_if_refunded: false,
    ...request,
  };
}

/**
 * Returns the idempotency key of a request that was given none: made of what it asks for (in SQL: is_same_request),
 * without its reason.
 */
export function contentKey(request: UpdateRequest): string {
  const content = [
    request.commission_id,
    request.action,
    request.paid_at,
    request.due_at,
    request.expected_unpaid,
    request.expected_paid_at,
    request.expected_amount,
    request.expected_currency,
    request.supersede,
    request.even_if_refunded,
  ];
  return keyOf(content);
}

/** The part of a commission that the payment ledger stores of each answer. */
export interface CommissionValues {
  readonly paid_at: string | null;
  readonly due_at: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly state: string | null;
  readonly voided_at: string | null;
  readonly updated_at: string;
}

export function valuesOf(commission: Commission): CommissionValues {
  const { paid_at, due_at = null, amount, currency, state = null, voided_at = null } = commission;
  return { paid_at, due_at, amount, currency, state, voided_at, updated_at: commission.updated_at };
}

/** Returns whether it was changed, by us or others: a change that arrived may have been taken back since. */
export function isChangedSince(
  before: CommissionValues,
  { paid_at, due_at = null, updated_at }: Commission,
): boolean {
  const isOther = (one: string | null, other: string | null) =>
    one === null || other === null ? one !== other : toMicros(one) !== toMicros(other);
  return [
    [before.paid_at, paid_at],
    [before.due_at, due_at],
    [before.updated_at, updated_at],
  ].some(([one = null, other = null]) => isOther(one, other));
}
