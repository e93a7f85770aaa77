// The batches of the payment ledger: page by page, newest first, and one by any of its requests.

import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { count, stateCounts, text, timestamp } from './fields.ts';
import { type FigurePage, mirrorTable, type Reader, readPage } from './figure.ts';

export const batch = z.object({
  newest_request: count('number of the last request in it'),
  batch: text('its name; null: the requests without a batch').nullable(),
  requests: count('how many'),
  states: stateCounts.describe('how many of them are in each state'),
  requested_by: text('who asked; of several, one and the words "and others"'),
  requested_at: timestamp('when'),
  finished_at: timestamp('when the last of them ended; null while one waits').nullable(),
});

export type Batch = z.infer<typeof batch>;

/** Without people's texts, unless `isFull`. */
export type BatchLine = Omit<Batch, 'batch' | 'requested_by'> & Partial<Batch>;

/** Returns the newest batches, with their names and who asked. */
export async function readLastBatches(reader: Reader, most: number): Promise<readonly Batch[]> {
  const { rows } = await batches<Batch>(reader, { beyond: null, most, isFull: true }).execute(reader.db);
  return rows;
}

const PAGE_OF_BATCHES = 30;

/** Returns a page of the batches, newest first; `isFull`: with their names and who asked. */
export function readBatches(
  reader: Reader,
  { before, isFull }: { readonly before: number | null; readonly isFull: boolean },
): Promise<FigurePage<BatchLine>> {
  return readPage<BatchLine, number>(
    reader,
    { beyond: before, most: PAGE_OF_BATCHES, keyOf: ({ newest_request }) => newest_request },
    (beyond, most) => batches(reader, { beyond, most, isFull }),
  );
}

// Several people may have asked for the requests of a batch.
function batches<Row>(
  reader: Reader,
  asked: { readonly beyond: number | null; readonly most: number; readonly isFull: boolean },
): RawBuilder<Row> {
  const { beyond, most, isFull } = asked;
  const who = sql`min(first_asked) || case when min(first_asked) <> max(last_asked) then ' and others' else '' end`;
  return sql<Row>`
      select max(newest) as newest_request, sum(requests)::bigint as requests,
             jsonb_object_agg(state, requests) as states, min(requested_at) as requested_at,
             case when bool_and(state <> 'pending') then max(finished_at) end as finished_at
             ${isFull ? sql`, batch_id as batch, ${who} as requested_by` : sql``}
      from (
        select batch_id, state, count(*) as requests, min(requested_at) as requested_at,
               max(finished_at) as finished_at, max(id) as newest
               ${isFull ? sql`, min(requested_by) as first_asked, max(requested_by) as last_asked` : sql``}
        from ${mirrorTable(reader, 'commission_updates')}
        group by batch_id, state
      ) as by_state
      group by batch_id
      ${beyond === null ? sql`` : sql`having max(newest) < ${beyond}`}
      order by newest_request desc limit ${most}`;
}

/** Returns the condition that the column names the batch of that request. */
export function isOfBatch(
  reader: Reader,
  column: RawBuilder<unknown>,
  ofRequest: number,
): RawBuilder<unknown> {
  const updates = mirrorTable(reader, 'commission_updates');
  return sql`${column} is not distinct from (select batch_id from ${updates} where id = ${ofRequest})`;
}

/**
 * Returns the name of the request's batch, null for a request without a batch; undefined if there is no such request.
 */
export async function findBatch(reader: Reader, ofRequest: number): Promise<string | null | undefined> {
  const { rows } = await sql<{ batch: string | null }>`
    select batch_id as batch from ${mirrorTable(reader, 'commission_updates')} where id = ${ofRequest}`.execute(
    reader.db,
  );
  return rows[0]?.batch;
}
