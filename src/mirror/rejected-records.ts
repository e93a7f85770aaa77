// Keeps the records that could not be stored in their tables, each with the reason.

import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import type { Rejection } from '../records/rejection-reason.ts';

export interface RecordedRejections {
  /** Rejections that the run had not met yet. */
  readonly recorded: number;
  /** Those of them without a usable identifier. */
  readonly anonymous: number;
}

/**
 * Stores the rejections that the run has not stored yet and returns how many those are. A record that is read twice
 * in a run is one rejection; without an identifier, its text is compared. Outside a run there is one of each record,
 * and the newest stays: a commission that is polled for months must not fill the table.
 *
 * The payload is sent as JSON text, in which what Postgres cannot hold (NUL, half a surrogate pair) is an escape.
 */
export async function recordRejections(
  trx: DatabaseTransaction,
  { runId, resource }: { runId: number | null; resource: string },
  rejections: readonly Rejection[],
): Promise<RecordedRejections> {
  if (rejections.length === 0) return { recorded: 0, anonymous: 0 };
  const answer = await sql<{ record_id: string | null }>`
    insert into rejected_records as rejected (run_id, resource, record_id, reason, payload, observed_at)
    select ${runId}::bigint, ${resource}, record_id, reason, payload, observed_at
    from (
      select distinct on (coalesce(record_id, md5(payload::text))) *
      from unnest(
        ${rejections.map(({ id }) => id)}::text[],
        ${rejections.map(({ reason }) => reason)}::text[],
        ${rejections.map(({ payload }) => JSON.stringify(payload))}::json[],
        ${rejections.map(({ observedAt }) => observedAt)}::timestamptz[]
      ) with ordinality as rejection (record_id, reason, payload, observed_at, place)
      order by coalesce(record_id, md5(payload::text)), observed_at desc, place
    ) as newest
    order by place
    on conflict (coalesce(run_id, 0), resource, coalesce(record_id, md5(payload::text))) do update
    set reason = excluded.reason, payload = excluded.payload, observed_at = excluded.observed_at
    where rejected.run_id is null and rejected.observed_at <= excluded.observed_at
    returning record_id`.execute(trx);
  return {
    recorded: answer.rows.length,
    anonymous: answer.rows.filter(({ record_id }) => record_id === null).length,
  };
}

/**
 * Returns how many records of its resource without a usable identifier the run has rejected; those that were nested in
 * others are not on its list.
 */
export async function countAnonymousRejections(
  database: Database,
  { runId, resource }: { runId: number; resource: string },
): Promise<number> {
  const { count } = await database
    .selectFrom('rejected_records')
    .select(sql<number>`count(*)`.as('count'))
    .where('run_id', '=', runId)
    .where('resource', '=', resource)
    .where('record_id', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}
