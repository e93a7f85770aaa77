// What happens at this moment: the runs that are under way, the payments that wait, the permits that are used, the next
// poll. Each figure comes from one statement, which the status page shows as it is.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { RunMode } from '../db/tables.ts';

export interface RunningSync {
  readonly id: number;
  readonly resource: string;
  readonly mode: RunMode;
  readonly started_at: Timestamp;
  /** From its start to when it last saved its progress. */
  readonly running_seconds: number;
  readonly silent_seconds: number;
  readonly requests: number;
  readonly pages: number;
  /** Different records so far. */
  readonly distinct_seen: number;
  /** As many as the program says it has; null before its first answer. */
  readonly total_upstream: number | null;
  /** More than 1 where it was stopped and taken up again. */
  readonly attempt: number;
  /** Of a delta, as it planned; null for a run that reads everything. */
  readonly expected_requests: number | null;
}

/** Returns the statement of readRunning. */
export function runningSql(schema: string): string {
  return `select id, resource, mode, started_at,
  extract(epoch from heartbeat_at - started_at)::float8 as running_seconds,
  extract(epoch from clock_timestamp() - heartbeat_at)::float8 as silent_seconds,
  requests, pages, distinct_seen, total_upstream, attempt,
  (plan ->> 'expected_requests')::bigint as expected_requests
from "${schema}".sync_runs
where state = 'running'
order by id;`;
}

/** Returns the runs that are under way, the one that started first at the top. */
export function readRunning(db: Database, schema: string): Promise<readonly RunningSync[]> {
  return readAll<RunningSync>(db, runningSql(schema));
}

export interface PendingPayments {
  /** Requests that have not ended. */
  readonly pending: number;
  /** Those of them that a writer works on now. */
  readonly applying: number;
  /** Those that could be applied now. */
  readonly due: number;
  /** When the first of the others is tried again; null where there is none. */
  readonly next_attempt_at: Timestamp | null;
}

/** Returns the statement of readPending. */
export function pendingSql(schema: string): string {
  return `select count(*) as pending,
  count(*) filter (where claimed_until > clock_timestamp()) as applying,
  count(*) filter (where next_attempt_at <= clock_timestamp()) as due,
  min(next_attempt_at) filter (where next_attempt_at > clock_timestamp()) as next_attempt_at
from "${schema}".commission_updates
where state = 'pending';`;
}

/** Returns the payments that have not ended. */
export async function readPending(db: Database, schema: string): Promise<PendingPayments> {
  return onlyRow(await readAll<PendingPayments>(db, pendingSql(schema)));
}

export interface PermitUse {
  readonly priority: 'reads' | 'payments';
  /** Requests that count against the limit. */
  readonly requests: number;
  /** Those of them that are not answered yet. */
  readonly in_flight: number;
}

/** Returns the statement of readPermitUse. */
export function permitUseSql(schema: string): string {
  return `select priority, count(*) as requests,
  count(*) filter (where returned_at is null) as in_flight
from "${schema}".request_permits
where expires_at > clock_timestamp()
group by priority
order by priority;`;
}

/** Returns who uses the budget now; nobody has no row. */
export function readPermitUse(db: Database, schema: string): Promise<readonly PermitUse[]> {
  return readAll<PermitUse>(db, permitUseSql(schema));
}

/** Returns the statement of readNextPoll. */
export function nextPollSql(schema: string): string {
  return `select min(next_poll_at) as next_poll_at
from "${schema}".tracked_commissions
where not (select is_used from "${schema}".commission_list);`;
}

/** Returns when the next known commission is asked for by itself; null where none is. */
export async function readNextPoll(db: Database, schema: string): Promise<Timestamp | null> {
  const rows = await readAll<{ next_poll_at: Timestamp | null }>(db, nextPollSql(schema));
  return onlyRow(rows).next_poll_at;
}

async function readAll<Row>(db: Database, statement: string): Promise<readonly Row[]> {
  const { rows } = await sql.raw<Row>(statement).execute(db);
  return rows;
}

function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new TypeError('a count returned no row');
  return row;
}
