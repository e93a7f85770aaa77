// What a commission update is: the words of a request and of its line in the payment ledger. Pure; the columns are
// explained by their comments in the database.

import type { Action, UpdateState } from '../contract/payment-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { CommissionValues } from './commission-values.ts';

/** The ends after which the program has what was asked for. */
export const GOOD_STATES: readonly UpdateState[] = ['applied', 'unchanged'];

/** The ends that somebody has to look at: the program does not have what was asked. */
export const BAD_STATES: readonly UpdateState[] = ['conflict', 'not_found', 'rejected', 'failed'];

/** The ends after which the program was not given what was asked for, whether or not somebody wanted it so. */
export const UNMET_STATES: readonly UpdateState[] = [...BAD_STATES, 'superseded', 'cancelled'];

/** The table refuses a longer one. */
export const LONGEST_KEY = 200;

/** What somebody asks for; each field as the column of the same name. Timestamps are ISO 8601 with a zone. */
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
  /** Of a pay: a sale that was refunded in full does not keep it from being paid. */
  readonly even_if_refunded: boolean;
}

/** A request as the writer works on it. */
export interface ClaimedUpdate extends UpdateRequest {
  readonly id: number;
  readonly attempts: number;
  /** Set where an earlier try may have sent the change. */
  readonly put_sent_at: Timestamp | null;
  /** What the commission was then; null where that is not known. */
  readonly before: CommissionValues | null;
}

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
