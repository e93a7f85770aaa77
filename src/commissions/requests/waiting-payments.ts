// Requests for payments that wait. Whoever wants the same payment as the newest of a commission needs no second
// request: it would find the commission paid by the first, and end as conflict.

import { sql } from 'kysely';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { matchTimestamp } from '../timestamps.ts';
import type { UpdateRequest } from '../update-request.ts';

interface WaitingPayment {
  readonly id: number;
  readonly commission_id: string;
  readonly paid_at: Timestamp;
}

/** The newest pending request for the payment of each commission, where that is a pay. */
export type WaitingPayments = ReadonlyMap<string, WaitingPayment>;

/** Returns those of the commissions. */
export async function readWaitingPayments(
  db: Database,
  commissions: readonly { readonly commission_id: string }[],
): Promise<WaitingPayments> {
  const { rows } = await sql<WaitingPayment>`
    with newest as (
      select distinct on (commission_id) *
      from commission_updates
      where commission_id = any(${commissions.map(({ commission_id }) => commission_id)}::text[]) and action in ('pay', 'unpay') and state = 'pending'
      order by commission_id, id desc
    )
    select id, commission_id, paid_at from newest where action = 'pay'
  `.execute(db);
  return new Map(rows.map((waiting) => [waiting.commission_id, waiting]));
}

/** Returns the number of the one that makes this payment; null where none does. */
export function findWaiting(
  waiting: WaitingPayments,
  { commission_id, paid_at }: UpdateRequest,
): number | null {
  const newest = waiting.get(commission_id);
  if (newest === undefined || paid_at === null) return null;
  return matchTimestamp(paid_at, newest.paid_at) === 'same' ? newest.id : null;
}
