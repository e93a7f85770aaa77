// What the mirror and the payment ledger know against paying the commissions of a payout.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import type { Obstacle } from './judge-payout.ts';

/**
 * Returns the obstacles, by commission: one that is voided or whose sale was refunded in full, one with a request that
 * waits, and one that was paid since `readAt`, when the payout was read.
 */
export async function readObstacles(
  db: Database,
  { payoutId, commissionIds, readAt }: PayoutReading,
): Promise<readonly Obstacle[]> {
  const { rows } = await sql<Obstacle>`
    with asked as (
      select commission_id from unnest(${[...commissionIds]}::text[]) as input (commission_id)
    )
    select commission_id, 'waits' as kind, 'has request ' || id || ', which waits' as says
    from commission_updates join asked using (commission_id)
    where state = 'pending'
    union all
    select asked.commission_id, 'waits', 'is in payout ' || payout_id || ', which request ' || id || ' is paying'
    from asked
    join commission_updates request on request.commission_ids @> array[asked.commission_id]
    where state = 'pending' and put_sent_at is not null and payout_id <> ${payoutId}
    union all
    select commission_id, 'refunded', not_owed(commission_id)
    from asked
    where not_owed(commission_id) is not null
    union all
    select commission.id, 'paid', 'was paid meanwhile'
    from asked
    join commissions commission on commission.id = asked.commission_id
    where commission.paid_at is not null and commission._observed_at >= ${readAt}::timestamptz
    order by 1, 2
  `.execute(db);
  return rows;
}

export interface PayoutReading {
  readonly payoutId: string;
  readonly commissionIds: readonly string[];
  readonly readAt: Timestamp;
}
