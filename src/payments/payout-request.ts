// A request to pay a payout. Pure; the comments in the database explain the columns.

import type { Timestamp } from '../contract/timestamp.ts';
import { keyOf } from './content-key.ts';

/** Each field is the column of the same name of commission_updates. */
export interface PayoutRequest {
  readonly payout_id: string;
  readonly action: 'pay';
  readonly expected_amount: number | null;
  readonly expected_currency: string | null;
  readonly expected_commissions: number | null;
  readonly reason: string | null;
  readonly idempotency_key: string | null;
  readonly supersede: boolean;
  /** Pays even if a commission of it is refunded in full or voided. */
  readonly even_if_refunded: boolean;
}

/** A request as the writer works on it. */
export interface ClaimedPayout extends PayoutRequest {
  readonly commission_id: null;
  readonly id: number;
  readonly attempts: number;
  /** Set if an earlier try may have sent the payment. */
  readonly put_sent_at: Timestamp | null;
  readonly before: PayoutValues | null;
  /** Milliseconds since the payment was sent; if it was not, since the request was made. */
  readonly waited_ms: number;
  /** When the payout in the mirror was observed; null if it is not there. */
  readonly mirrored_at: Timestamp | null;
}

/** The part of a payout that the payment ledger stores of each answer. */
export interface PayoutValues {
  readonly paid_at: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly state: string;
  readonly updated_at: string;
  /** How many; null if the answer has none. */
  readonly commissions: number | null;
}

/** Returns the request with everything optional filled in: null or false. */
export function plainPayout(
  request: Pick<PayoutRequest, 'payout_id'> & Partial<PayoutRequest>,
): PayoutRequest {
  return {
    action: 'pay',
    expected_amount: null,
    expected_currency: null,
    expected_commissions: null,
    reason: null,
    idempotency_key: null,
    supersede: false,
    even_if_refunded: false,
    ...request,
  };
}

/** Returns the idempotency key of a request of a file that names none: made of what it asks for, as `contentKey`. */
export function payoutKey(request: PayoutRequest): string {
  const { payout_id, expected_amount, expected_currency, expected_commissions, even_if_refunded } = request;
  const content = [payout_id, expected_amount, expected_currency, expected_commissions, even_if_refunded];
  return keyOf(content);
}
