// Marks sales deleted that no commission names any more. The program shows a sale in its commissions alone, so nothing
// else can show that it is gone; without this, the revenue of what no longer exists would count for ever.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';

/** A commission that is gone. */
export interface GoneCommission {
  readonly id: string;
  /** When the request that showed it was granted its permit. */
  readonly askedAt: Timestamp;
}

/** A sale that a commission had. */
export interface FormerSale {
  readonly saleId: string;
  /** When the request that showed it was granted its permit. */
  readonly askedAt: Timestamp;
}

const HAS_NO_COMMISSION = sql`not exists (
  select from commissions living where living.sale_id = sales.id and living._deleted_at is null
)`;

/**
 * Marks deleted the sales of these commissions that no living commission has, however new the sale's own row is: a
 * change of it may have been read while its commission, unchanged, kept an older time. Should one live all the same,
 * the next commission that names it brings it back. Idempotent: yes.
 */
export async function markSalesOfGone(
  trx: DatabaseTransaction,
  gone: readonly GoneCommission[],
): Promise<void> {
  const { rows } = await sql<FormerSale>`
    select commissions.sale_id as "saleId", max(asked.asked_at) as "askedAt"
    from unnest(${gone.map(({ id }) => id)}::text[], ${gone.map(({ askedAt }) => askedAt)}::timestamptz[])
      as asked (id, asked_at)
    join commissions on commissions.id = asked.id
    where commissions.sale_id is not null
    group by commissions.sale_id`.execute(trx);
  await markFormerSales(trx, rows);
}

/** The same for sales that commissions had before they got another one, or none. */
export async function markFormerSales(
  trx: DatabaseTransaction,
  former: readonly FormerSale[],
): Promise<void> {
  if (former.length === 0) return;
  await sql`
    update sales
    set _deleted_at = former.asked_at, _changed_at = (select stamp_changes()),
      _observed_at = greatest(sales._observed_at, former.asked_at)
    from unnest(${former.map(({ saleId }) => saleId)}::text[], ${former.map(({ askedAt }) => askedAt)}::timestamptz[])
      as former (id, asked_at)
    where sales.id = former.id and sales._deleted_at is null
      and ${HAS_NO_COMMISSION}`.execute(trx);
}

/** Returns the sales that no living commission has: theirs got another one, or none, and nobody looked. */
export async function findFormerSales(
  trx: DatabaseTransaction,
  askedAt: Timestamp,
): Promise<readonly FormerSale[]> {
  const { rows } = await sql<{ id: string }>`
    select id from sales
    where _deleted_at is null and ${HAS_NO_COMMISSION}`.execute(trx);
  return rows.map(({ id }) => ({ saleId: id, askedAt }));
}
