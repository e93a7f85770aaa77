// Marks sales deleted that no commission names any more. The program shows a sale in its commissions alone, so nothing
// else can show that it is gone; without this, the revenue of what no longer exists would count for ever.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';

/**
 * Marks deleted the sales of these commissions, which are gone, that no living commission has. Should one live all the
 * same, the next commission that names it brings it back. Idempotent: yes.
 */
export async function markSalesOfGone(
  trx: DatabaseTransaction,
  commissionIds: readonly string[],
  observedAt: Timestamp,
): Promise<void> {
  await sql`
    update sales
    set _deleted_at = ${observedAt}::timestamptz, _changed_at = (select stamp_changes()),
      _observed_at = ${observedAt}::timestamptz
    where sales._deleted_at is null and sales._observed_at <= ${observedAt}::timestamptz
      and sales.id in (select sale_id from commissions where id = any(${commissionIds}::text[]))
      and not exists (
        select from commissions living where living.sale_id = sales.id and living._deleted_at is null
      )`.execute(trx);
}
