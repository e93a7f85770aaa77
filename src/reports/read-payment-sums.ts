// What the payment ledger comes to: the reasons, the sums by currency, and what was sent for it lately.

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
import { type BatchRef, isOfBatch } from './read-batches.ts';

/** Quotes what the program and people wrote. */
export interface ReasonLine {
  readonly state: UpdateState;
  readonly outcome: string;
  readonly requests: number;
}

/**
 * Commissions that were to be paid, each in one of the sums after `requested`: what came of its payments, of those that
 * were asked for after it was last taken back, by a request of whichever batch.
 *
 * Units: as commissions.amount. A sum is null where a number could not hold it.
 */
export interface CurrencyLine {
  /** Null: of commissions whose currency is not known. */
  readonly currency: string | null;
  readonly commissions: number;
  readonly requested: number | null;
  /** One is applied, or unchanged: the program has it as paid. */
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
  readonly commission_id: string;
  readonly requested_at: Timestamp;
  readonly age_seconds: number;
  /** Tries that count: outages and 429 do not. */
  readonly attempts: number;
  /** Whether any try failed, also one that does not count. */
  readonly has_failed: boolean;
  /** Null: its time has come. */
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

/** Returns the most frequent reasons of what was not carried out, and of what waits. */
export const readReasons = figure(
  (reader) => sql<ReasonLine>`
      select state, outcome, count(*) as requests
      from ${reportView(reader, 'commission_ledger')}
      where state not in ('applied', 'unchanged')
      group by state, outcome
      order by requests desc, state, outcome limit ${MOST_REASONS}`,
  readMemoized,
);

/** Returns the sums of a batch, or of all requests, by currency: of money, so that each commission counts once. */
export async function readCurrencies(reader: Reader, batch: BatchRef | null): Promise<Figure<CurrencyLine>> {
  const condition = batch === null ? sql`` : sql`and ${isOfBatch(reader, sql`batch`, batch)}`;
  return await readMemoized(
    reader,
    sql<CurrencyLine>`
      with taken_back as (
        select commission_id, max(id) as request
        from ${mirrorTable(reader, 'commission_updates')}
        where action = 'unpay' and state in ('applied', 'unchanged')
        group by commission_id
      ), payments as (
        select commission_id,
               (array_agg(upper(currency collate "C") order by request desc))[1] as currency,
               (array_agg(amount order by request desc))[1] as amount,
               max(request) filter (where state in ('applied', 'unchanged')) as done,
               max(request) filter (where state = 'pending') as pending,
               max(request) filter (where state in ('conflict', 'not_found', 'rejected', 'failed')) as not_done
        from ${reportView(reader, 'commission_ledger')}
        where action = 'pay' ${condition}
        group by commission_id
      ), judged as (
        select currency, amount,
               case
                 when done > coalesce(taken_back.request, 0) then 'done'
                 when pending is not null then 'pending'
                 when not_done > coalesce(taken_back.request, 0) then 'not_done'
                 else 'dropped'
               end as stage
        from payments
        left join taken_back using (commission_id)
      ), sums as (
        select currency, count(*) as commissions, coalesce(sum(amount), 0) as requested,
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

/** Returns the request that waits longest, in one row; no row where none waits. */
export const readOldestPending = figure(
  (reader) => sql<OldestPending>`
      select id as request, commission_id, requested_at,
             extract(epoch from clock_timestamp() - requested_at)::float8 as age_seconds, attempts,
             last_error is not null as has_failed,
             case when next_attempt_at > clock_timestamp() then next_attempt_at end as next_attempt_at
      from ${mirrorTable(reader, 'commission_updates')}
      where state = 'pending'
      order by id limit 1`,
);

/** Returns what was sent for requests within a day, by how it ended. */
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
