// The present activity: running runs, pending payments, used permits, the next poll. Each figure comes from one
// statement, which the status page shows.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import { figure, mirrorTable } from './figure.ts';
import type { RunLine } from './read-runs.ts';

export interface RunningSync {
  readonly id: number;
  readonly resource: string;
  readonly mode: RunLine['mode'];
  readonly started_at: Timestamp;
  /** From its start to when it last saved its progress. */
  readonly running_seconds: number;
  readonly silent_seconds: number;
  readonly requests: number;
  readonly pages: number;
  /** Different records so far. */
  readonly distinct_seen: number;
  /** The API's total; null before its first answer. */
  readonly total_upstream: number | null;
  /** More than 1 if it was stopped and resumed. */
  readonly attempt: number;
  /** For how long an answer of the API has been late, and how often it was asked; null if none is. */
  readonly unanswered_seconds: number | null;
  readonly unanswered_attempt: number | null;
  /** Of a delta's plan; null for a run that reads everything. */
  readonly expected_requests: number | null;
}

/** Returns the running runs, the oldest first. */
export const readRunning = figure(
  (reader) => sql<RunningSync>`
      select id, resource, mode, started_at,
        extract(epoch from heartbeat_at - started_at)::float8 as running_seconds,
        extract(epoch from clock_timestamp() - heartbeat_at)::float8 as silent_seconds,
        extract(epoch from clock_timestamp() - unanswered_since)::float8 as unanswered_seconds, unanswered_attempt,
        requests, pages, distinct_seen, total_upstream, attempt,
        (plan ->> 'expected_requests')::bigint as expected_requests
      from ${mirrorTable(reader, 'sync_runs')}
      where state = 'running'
      order by id`,
);

export interface PendingPayments {
  readonly pending: number;
  /** Those that a writer works on now. */
  readonly applying: number;
  /** Those of the others that a writer may claim now: due, and the first of their commission. */
  readonly ready: number;
  /** When the first of the others is tried again; null if there is none. */
  readonly next_attempt_at: Timestamp | null;
}

/** Returns one row. */
export const readPending = figure(
  (reader) => sql<PendingPayments>`
      select count(*) as pending,
        count(*) filter (where claimed_until > clock_timestamp()) as applying,
        count(*) filter (
          where next_attempt_at <= clock_timestamp() and coalesce(claimed_until <= clock_timestamp(), true) and is_first
        ) as ready,
        min(next_attempt_at) filter (where next_attempt_at > clock_timestamp()) as next_attempt_at
      from (
        select *, id = min(id) over (partition by coalesce(commission_id, payout_id)) as is_first
        from ${mirrorTable(reader, 'commission_updates')}
        where state = 'pending'
      ) as waiting`,
);

export interface PermitUse {
  readonly priority: 'reads' | 'payments';
  /** Requests that count against the limit. */
  readonly requests: number;
  /** Those of them that are not answered yet. */
  readonly in_flight: number;
}

/** Returns the present use of the budget; a priority without permits has no row. */
export const readPermitUse = figure(
  (reader) => sql<PermitUse>`
      select priority, count(*) as requests,
        count(*) filter (where returned_at is null) as in_flight
      from ${mirrorTable(reader, 'request_permits')}
      where expires_at > clock_timestamp()
      group by priority
      order by priority`,
);

export interface NextPoll {
  /** Null if no commission is polled. */
  readonly next_poll_at: Timestamp | null;
}

/** Returns one row. */
export const readNextPoll = figure(
  (reader) => sql<NextPoll>`
      select min(next_poll_at) as next_poll_at
      from ${mirrorTable(reader, 'tracked_commissions')}
      where not (select is_used from ${mirrorTable(reader, 'optional_lists')} where resource = 'commissions')`,
);
