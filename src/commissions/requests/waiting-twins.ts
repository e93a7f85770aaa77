// Requests that wait and ask for the same as one without a key: as with --again, run once more after it was stopped.
// A second one would find the commission changed by the first, and end as conflict.

import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { UpdateRequest } from '../update-request.ts';
import { OVERTAKEN_BY, type RequestedUpdate } from './request-updates.ts';

interface AskedRow {
  readonly request: UpdateRequest;
  readonly waiting?: RequestedUpdate | null;
}

/** Returns the rows; each without a key takes the request that waits for the same, where there is one. */
export async function takeWaitingTwins<Row extends AskedRow>(
  db: Database,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const keyless = rows.filter(({ request, waiting }) => request.idempotency_key === null && waiting == null);
  if (keyless.length === 0) return rows;
  const twins = await findTwins(
    db,
    keyless.map(({ request }) => request),
  );
  const twinOf = new Map(keyless.map((row, index) => [row, twins.get(index + 1)]));
  return rows.map((row) => ({ ...row, waiting: row.waiting ?? twinOf.get(row) ?? null }));
}

/** Returns them by the place of the request, from 1; none that a later request undoes. */
async function findTwins(
  db: Database,
  requests: readonly UpdateRequest[],
): Promise<ReadonlyMap<number, RequestedUpdate>> {
  const { rows } = await sql<RequestedUpdate & { place: number }>`
    select distinct on (place) asked.place::int as place, earlier.id, false as "isNew", earlier.state, earlier.outcome,
      earlier.batch_id, null as overtaken_by
    from jsonb_array_elements(${JSON.stringify(requests)}::jsonb) with ordinality as asked (request, place)
    join commission_updates earlier on earlier.commission_id = request ->> 'commission_id' and earlier.state = 'pending'
    where is_same_request(earlier, jsonb_populate_record(null::commission_updates, request))
      and ${OVERTAKEN_BY} is null
    order by place, earlier.id desc
  `.execute(db);
  return new Map(rows.map(({ place, ...twin }) => [place, twin]));
}
