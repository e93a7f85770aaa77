// Stores the records that their tables cannot hold, each with the reason.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import type { Rejection } from '../decode/rejection-reason.ts';

/**
 * Stores the rejections that the run has not stored yet, and returns their number. A record that is read twice in a run
 * is one rejection; without an identifier, its text is compared. Outside a run only the newest rejection of a record
 * stays: a commission that is polled for months must not fill the table.
 *
 * The payload is sent as JSON text, which escapes characters that Postgres cannot hold (NUL, half a surrogate pair).
 */
export async function recordRejections(
  trx: DatabaseTransaction,
  { runId, resource }: { runId: number | null; resource: string },
  rejections: readonly Rejection[],
): Promise<number> {
  if (rejections.length === 0) return 0;
  const answer = await sql`
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
    returning id`.execute(trx);
  return answer.rows.length;
}
