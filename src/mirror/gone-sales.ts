// Marks sales deleted that no commission names any more. The program shows a sale in its commissions alone, so nothing
// else can show that it is gone; without this, the revenue of what no longer exists would count for ever.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { isInEitherCase } from './either-case.ts';

/** A commission that is gone. */
export interface GoneCommission {
  readonly id: string;
  /** When the request that showed it was granted its permit. */
  readonly askedAt: Timestamp;
}

/**
 * Marks deleted the sales of these commissions that no living commission has, however new the sale's own row is: a
 * change of it may have been read while its commission, unchanged, kept an older time. Should one live all the same,
 * the next commission that names it brings it back. Idempotent: yes.
 */
export async function markSalesOfGone(
  trx: DatabaseTransaction,
  gone: readonly GoneCommission[],
): Promise<void> {
  await sql`
    update sales
    set _deleted_at = gone.asked_at, _changed_at = (select stamp_changes()),
      _observed_at = greatest(sales._observed_at, gone.asked_at)
    from (
      select commissions.sale_id, max(asked.asked_at) as asked_at
      from unnest(${gone.map(({ id }) => id)}::text[], ${gone.map(({ askedAt }) => askedAt)}::timestamptz[])
        as asked (id, asked_at)
      join commissions on ${sql.raw(isInEitherCase('commissions.id', 'asked.id'))}
      group by commissions.sale_id
    ) gone
    where sales.id = gone.sale_id and sales._deleted_at is null
      and not exists (
        select from commissions living where living.sale_id = sales.id and living._deleted_at is null
      )`.execute(trx);
}
