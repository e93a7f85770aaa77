// The batches of the payment ledger: page by page, newest first, and one by its name or one of its requests.

import { type RawBuilder, sql } from 'kysely';
import { WHO_ASKED } from '../commissions/read-payment-ledger.ts';
import type { UpdateState } from '../commissions/update-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { mirrorTable, type Reader, runShownPage, type ShownPage } from './shown-query.ts';

export interface BatchOfLog {
  /** The last request in it: batches are listed by it. */
  readonly newest_request: number;
  readonly requests: number;
  readonly states: Readonly<Partial<Record<UpdateState, number>>>;
  readonly requested_at: Timestamp;
  /** Null while one of its requests is pending. */
  readonly finished_at: Timestamp | null;
  /** These two are what people wrote: with personal data alone. A null batch: requests that are in none. */
  readonly batch?: string | null;
  readonly requested_by?: string;
}

const PAGE_OF_BATCHES = 30;

/** Returns a page of the batches, newest first; `isFull`: with their names and who asked. */
export async function readBatchLog(
  reader: Reader,
  { before, isFull }: { readonly before: number | null; readonly isFull: boolean },
): Promise<ShownPage<BatchOfLog>> {
  return await runShownPage<BatchOfLog, number>(
    reader,
    { beyond: before, most: PAGE_OF_BATCHES, keyOf: ({ newest_request }) => newest_request },
    (beyond, most) => sql<BatchOfLog>`
      select max(newest) as newest_request, sum(requests)::bigint as requests,
             jsonb_object_agg(state, requests) as states, min(requested_at) as requested_at,
             case when bool_and(state <> 'pending') then max(finished_at) end as finished_at
             ${isFull ? sql`, batch_id as batch, ${WHO_ASKED} as requested_by` : sql``}
      from (
        select batch_id, state, count(*) as requests, min(requested_at) as requested_at,
               max(finished_at) as finished_at, max(id) as newest
               ${isFull ? sql`, min(requested_by) as first_asked, max(requested_by) as last_asked` : sql``}
        from ${mirrorTable(reader, 'commission_updates')}
        group by batch_id, state
      ) as by_state
      group by batch_id
      ${beyond === null ? sql`` : sql`having max(newest) < ${beyond}`}
      order by newest_request desc limit ${most}`,
  );
}

/** A batch: by its name, or as the one that a request is in, which has no name where the request is in none. */
export type BatchRef = { readonly name: string } | { readonly ofRequest: number };

/** Returns the condition on the column with the batch's name. */
export function isOfBatch(reader: Reader, column: RawBuilder<unknown>, ref: BatchRef): RawBuilder<unknown> {
  if ('name' in ref) return sql`${column} = ${ref.name}`;
  const updates = mirrorTable(reader, 'commission_updates');
  return sql`${column} is not distinct from (select batch_id from ${updates} where id = ${ref.ofRequest})`;
}

/**
 * Returns the name of the batch, null of the requests that are in none; undefined where the payment ledger has no such
 * batch.
 */
export async function findBatch(reader: Reader, ref: BatchRef): Promise<string | null | undefined> {
  const condition = 'name' in ref ? sql`batch_id = ${ref.name}` : sql`id = ${ref.ofRequest}`;
  const { rows } = await sql<{ batch: string | null }>`
    select batch_id as batch from ${mirrorTable(reader, 'commission_updates')} where ${condition} limit 1`.execute(
    reader.db,
  );
  return rows[0]?.batch;
}
