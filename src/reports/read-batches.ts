// The batches of the payment ledger: page by page, newest first, and one by its name or one of its requests.

import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { count, stateCounts, text, timestamp } from './fields.ts';
import { type FigurePage, mirrorTable, type Reader, readPage } from './figure.ts';

export const batch = z.object({
  newest_request: count('number of the last request in it'),
  batch: text('its name; null: the requests that belong to none').nullable(),
  requests: count('how many'),
  states: stateCounts.describe('how many of them are in each state'),
  requested_by: text('who asked; where several did, one of them and the words "and others"'),
  requested_at: timestamp('when'),
  finished_at: timestamp('when the last of them ended; null while one waits').nullable(),
});

export type Batch = z.infer<typeof batch>;

/** Without what people wrote, unless it was asked for. */
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

// Of single requests, and of a batch that was added to, several people may have asked.
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
