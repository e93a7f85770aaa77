// What the payment ledger comes to: by state with the reasons, by currency, and what was sent for it lately.

import { sql } from 'kysely';
import type { UpdateState } from '../commissions/update-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { type Kept, keepReading } from './kept-reading.ts';
import { type BatchRef, isOfBatch } from './read-batch-log.ts';
import { exactSum, mirrorTable, type Reader, reportView, runShown, type Shown } from './shown-query.ts';

export interface StateLine {
  readonly state: UpdateState;
  readonly requests: number;
  readonly oldest_requested_at: Timestamp;
  readonly last_finished_at: Timestamp | null;
}

/** Quotes what the program and people wrote. */
export interface ReasonLine {
  readonly state: UpdateState;
  readonly outcome: string;
  readonly requests: number;
}

/** Units: as commissions.amount. A sum is null where a number could not hold it. */
export interface CurrencyLine {
  /** Null: of commissions whose currency is not known. */
  readonly currency: string | null;
  readonly requests: number;
  readonly requested: number | null;
  /** applied, or unchanged: the program has it as asked. */
  readonly done: number | null;
  readonly pending: number | null;
  /** conflict, not_found, rejected or failed: the program does not have what was asked. */
  readonly not_done: number | null;
  /** superseded or cancelled: no longer wanted. */
  readonly dropped: number | null;
}

export interface OldestPending {
  readonly request: number;
  readonly commission_id: string;
  readonly requested_at: Timestamp;
  readonly age_seconds: number;
  readonly attempts: number;
  readonly next_attempt_at: Timestamp;
}

export interface AttemptLine {
  readonly method: string;
  /** Null: no answer came. */
  readonly status: number | null;
  readonly error_code: string | null;
  readonly attempts: number;
  readonly median_ms: number | null;
  readonly last_sent_at: Timestamp;
}

const MOST_REASONS = 20;

/** Returns how many requests are in each state. */
export async function readStates(reader: Reader): Promise<Kept<StateLine>> {
  return await keepReading(
    reader,
    sql<StateLine>`
      select state, count(*) as requests, min(requested_at) as oldest_requested_at,
             max(finished_at) as last_finished_at
      from ${reportView(reader, 'commission_ledger')}
      group by state
      order by state`,
  );
}

/** Returns the most frequent reasons of what was not carried out, and of what waits. */
export async function readReasons(reader: Reader): Promise<Kept<ReasonLine>> {
  return await keepReading(
    reader,
    sql<ReasonLine>`
      select state, outcome, count(*) as requests
      from ${reportView(reader, 'commission_ledger')}
      where state not in ('applied', 'unchanged')
      group by state, outcome
      order by requests desc, state, outcome limit ${MOST_REASONS}`,
  );
}

/** Returns the sums of a batch, or of all requests, by currency. */
export async function readCurrencies(reader: Reader, batch: BatchRef | null): Promise<Kept<CurrencyLine>> {
  const condition = batch === null ? sql`` : sql`where ${isOfBatch(reader, sql`batch`, batch)}`;
  return await keepReading(
    reader,
    sql<CurrencyLine>`
      select currency, requests,
             ${sql.join(SUMS.map(exactSum), sql`,\n             `)}
      from (
        select upper(currency) as currency, count(*) as requests, coalesce(sum(amount), 0) as requested,
               coalesce(sum(amount) filter (where state in ('applied', 'unchanged')), 0) as done,
               coalesce(sum(amount) filter (where state = 'pending'), 0) as pending,
               coalesce(sum(amount) filter (where state in ('conflict', 'not_found', 'rejected', 'failed')), 0) as not_done,
               coalesce(sum(amount) filter (where state in ('superseded', 'cancelled')), 0) as dropped
        from ${reportView(reader, 'commission_ledger')}
        ${condition}
        group by upper(currency)
      ) as sums
      order by currency`,
  );
}

const SUMS = ['requested', 'done', 'pending', 'not_done', 'dropped'];

/** Returns the request that waits longest, in one row; no row where none waits. */
export async function readOldestPending(reader: Reader): Promise<Shown<OldestPending>> {
  return await runShown(
    reader,
    sql<OldestPending>`
      select id as request, commission_id, requested_at,
             extract(epoch from clock_timestamp() - requested_at)::float8 as age_seconds, attempts, next_attempt_at
      from ${mirrorTable(reader, 'commission_updates')}
      where state = 'pending'
      order by id limit 1`,
  );
}

/** Returns what was sent for requests within a day, by how it ended. */
export async function readDayOfAttempts(reader: Reader): Promise<Kept<AttemptLine>> {
  return await keepReading(
    reader,
    sql<AttemptLine>`
      select method, status, error_code, count(*) as attempts,
             percentile_cont(0.5) within group (order by duration_ms)::float8 as median_ms,
             max(sent_at) as last_sent_at
      from ${mirrorTable(reader, 'commission_update_attempts')}
      where sent_at >= now() - interval '1 day'
      group by method, status, error_code
      order by method, status, error_code`,
  );
}
