// Sums of the payment ledger: reasons, amounts by currency, and the last requests to the API.

import { sql } from 'kysely';
import type { UpdateState } from '../contract/payment-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import {
  exactSum,
  type Figure,
  figure,
  mirrorTable,
  type Reader,
  readMemoized,
  reportView,
} from './figure.ts';
import { isOfBatch } from './read-batches.ts';

/** Quotes texts of the API and of people. */
export interface ReasonLine {
  readonly state: UpdateState;
  readonly outcome: string;
  readonly requests: number;
}

/**
 * Commissions that were to be paid, each in one of the sums after `requested`, by the outcome of its payments since it
 * was last marked unpaid by a request of any batch.
 *
 * Units: as commissions.amount. A sum is null if a number cannot hold it.
 */
export interface CurrencyLine {
  /** Null: not known. */
  readonly currency: string | null;
  readonly commissions: number;
  readonly requested: number | null;
  /** One is applied or unchanged: the API has the commission as paid. */
  readonly done: number | null;
  /** Else, one is pending. */
  readonly pending: number | null;
  /** Else, one ended as conflict, not_found, rejected or failed. */
  readonly not_done: number | null;
  /** Superseded, cancelled or taken back: no longer wanted. */
  readonly dropped: number | null;
}

export interface OldestPending {
  readonly request: number;
  /** Null: the payout is to be paid. */
  readonly commission_id: string | null;
  readonly payout_id: string | null;
  readonly requested_at: Timestamp;
  readonly age_seconds: number;
  /** Without outages and 429. */
  readonly attempts: number;
  /** Whether a try failed, also an uncounted one. */
  readonly has_failed: boolean;
  /** Null: it is due. */
  readonly next_attempt_at: Timestamp | null;
}

export interface AttemptLine {
  readonly method: 'GET' | 'PUT';
  /** Null: no answer came. */
  readonly status: number | null;
  readonly error_code: string | null;
  readonly attempts: number;
  readonly median_ms: number | null;
  readonly last_sent_at: Timestamp;
}

const MOST_REASONS = 20;

/** Returns the most frequent reasons of requests that are pending or were not carried out, and were not followed. */
export const readReasons = figure(
  (reader) => sql<ReasonLine>`
      select state, outcome, count(*) as requests
      from ${reportView(reader, 'commission_ledger')}
      where state not in ('applied', 'unchanged') and followed_by is null
      group by state, outcome
      order by requests desc, state, outcome limit ${MOST_REASONS}`,
  readMemoized,
);

/** Returns the sums of the request's batch, or of all requests, by currency. Each commission counts once. */
export async function readCurrencies(
  reader: Reader,
  ofRequest: number | null,
): Promise<Figure<CurrencyLine>> {
  const condition = ofRequest === null ? sql`` : sql`and ${isOfBatch(reader, sql`batch`, ofRequest)}`;
  return await readMemoized(
    reader,
    sql<CurrencyLine>`
      with taken_back as (
        select commission_id, max(id) as request
        from ${mirrorTable(reader, 'commission_updates')}
        where commission_id is not null and action = 'unpay' and state in ('applied', 'unchanged')
        group by commission_id
      ), payments as (
        select commission_id, coalesce((array_agg(commissions order by request desc))[1], 0) as commissions,
               (array_agg(upper(currency collate "C") order by request desc))[1] as currency,
               (array_agg(amount order by request desc))[1] as amount,
               max(request) filter (where state in ('applied', 'unchanged')) as done,
               max(request) filter (where state = 'pending') as pending,
               max(request) filter (where state in ('conflict', 'not_found', 'rejected', 'failed')) as not_done
        from ${reportView(reader, 'commission_ledger')}
        where action = 'pay' ${condition}
        group by commission_id, case when commission_id is null then payout_id end
      ), judged as (
        select currency, amount, commissions,
               case
                 when done > coalesce(taken_back.request, 0) then 'done'
                 when pending is not null then 'pending'
                 when not_done > coalesce(taken_back.request, 0) then 'not_done'
                 else 'dropped'
               end as stage
        from payments
        left join taken_back using (commission_id)
      ), sums as (
        select currency, sum(commissions)::bigint as commissions, coalesce(sum(amount), 0) as requested,
               coalesce(sum(amount) filter (where stage = 'done'), 0) as done,
               coalesce(sum(amount) filter (where stage = 'pending'), 0) as pending,
               coalesce(sum(amount) filter (where stage = 'not_done'), 0) as not_done,
               coalesce(sum(amount) filter (where stage = 'dropped'), 0) as dropped
        from judged
        group by currency
      )
      select currency, commissions,
             ${sql.join(SUMS.map(exactSum), sql`,\n             `)}
      from sums
      order by currency`,
  );
}

const SUMS = ['requested', 'done', 'pending', 'not_done', 'dropped'];

/** Returns the oldest pending request, in at most one row. */
export const readOldestPending = figure(
  (reader) => sql<OldestPending>`
      select id as request, commission_id, payout_id, requested_at,
             extract(epoch from clock_timestamp() - requested_at)::float8 as age_seconds, attempts,
             last_error is not null as has_failed,
             case when next_attempt_at > clock_timestamp() then next_attempt_at end as next_attempt_at
      from ${mirrorTable(reader, 'commission_updates')}
      where state = 'pending'
      order by id limit 1`,
);

/** Returns the requests to the API within a day, by their result. */
export const readDayOfAttempts = figure(
  (reader) => sql<AttemptLine>`
      select method, status, error_code, count(*) as attempts,
             percentile_cont(0.5) within group (order by duration_ms)::float8 as median_ms,
             max(sent_at) as last_sent_at
      from ${mirrorTable(reader, 'commission_update_attempts')}
      where sent_at >= now() - interval '1 day'
      group by method, status, error_code
      order by method, status, error_code`,
  readMemoized,
);
