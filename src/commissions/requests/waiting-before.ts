// Requests that wait for the same value of a commission: they are applied first, and what comes after them finds
// something else than there is now.

import { sql } from 'kysely';
import type { Action } from '../../contract/payment-request.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import type { UpdateRequest } from '../update-request.ts';

export interface WaitingRequest {
  readonly id: number;
  readonly action: Action;
  readonly paid_at: Timestamp | null;
  readonly due_at: Timestamp | null;
}

/** Returns the newest that waits for the same value, one for each of the requests; null where none does. */
export async function readWaitingBefore(
  db: Database,
  requests: readonly UpdateRequest[],
): Promise<readonly (WaitingRequest | null)[]> {
  const { rows } = await sql<WaitingRequest & { commission_id: string }>`
    select distinct on (commission_id, action = 'due') commission_id, id, action, paid_at, due_at
    from commission_updates
    where state = 'pending' and commission_id = any(${requests.map(({ commission_id }) => commission_id)}::text[])
    order by commission_id, action = 'due', id desc
  `.execute(db);
  const valueAskedFor = (one: { commission_id: string; action: Action }) =>
    `${one.commission_id} ${one.action === 'due' ? 'due' : 'paid'}`;
  const waiting = new Map(rows.map((row) => [valueAskedFor(row), row]));
  // What supersedes drops them.
  return requests.map((request) =>
    request.supersede ? null : (waiting.get(valueAskedFor(request)) ?? null),
  );
}
