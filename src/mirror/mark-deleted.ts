// Marks rows deleted, and with them the rows that only they named. The caller finds out whether a missing row is
// deleted.
//
// Links. An affiliate names all of its links, so a link that it does not name is deleted, or another affiliate's by
// now: only the end of the list shows which. Referrals that still name it do not revive it, and those of another
// affiliate do not make it that one's. A link that was only seen in a referral may have no known affiliate: it is
// marked with the last of its referrals.
// Commissions of a payout. A payout names all of its commissions, so one that it does not name is in it no more: it may
// be in another, which sets that when it is read.
// Sales. The API shows a sale only in its commissions, so only they can show that it is deleted. Otherwise the revenue
// of a deleted sale would count for ever.

import { CompiledQuery, sql } from 'kysely';
import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { toBinaryArray } from '../decode/binary-array.ts';
import type { Listing } from '../decode/decode-page.ts';
import { lockForLoading } from './load-lock.ts';
import type { SeenRows, UnnamedLink } from './runs/seen-rows.ts';

/**
 * Marks the rows deleted, and with them an affiliate's links, the links that only these referrals named and the sales
 * that only these commissions have; takes the commissions of these payouts out of them. Returns the number of marked
 * rows of the resource. Other columns keep their values.
 * A row that was observed later than `observedAt`, or is marked already, does not change. Idempotent: yes.
 */
export async function markDeleted(
  trx: DatabaseTransaction,
  input: {
    runId: number | null;
    resource: ListedResource;
    ids: readonly string[];
    /** When the request that confirmed the deletion got its permit. */
    observedAt: Timestamp;
  },
): Promise<number> {
  const { runId, resource, ids, observedAt } = input;
  await lockForLoading(trx, { runId });
  const { rows } = await trx.executeQuery<{ id: string }>(
    CompiledQuery.raw(
      `update ${resource}
       set _deleted_at = $2::timestamptz, _changed_at = (select stamp_changes()), _observed_at = $2::timestamptz
       where id = any($1::text[]) and _deleted_at is null
         and _observed_at <= $2::timestamptz
       returning id`,
      [toBinaryArray('text', ids), observedAt],
    ),
  );
  const marked = rows.map(({ id }) => id);
  // An unmarked affiliate keeps its links, however old their rows are.
  if (resource === 'affiliates') await markLinksOfGone(trx, marked, observedAt);
  if (resource === 'referrals') await markUnownedLinks(trx, observedAt);
  if (resource === 'payouts') {
    await leavePayouts(
      trx,
      marked.map((ownerId) => ({ ownerId, ids: [], observedAt })),
    );
  }
  if (resource === 'commissions') {
    await markSalesOfGone(
      trx,
      ids.map((id) => ({ id, askedAt: observedAt })),
    );
  }
  return marked.length;
}

/**
 * After the whole list of the resource was read, marks links deleted that no affiliate names, links without an
 * affiliate that no referral names, and sales that no commission has. `observedAt` is a time at which the list was
 * requested already. To be called after markDeleted. Idempotent: yes.
 */
export async function markUnnamed(
  trx: DatabaseTransaction,
  input: { runId: number; resource: ListedResource; seen: SeenRows; observedAt: Timestamp },
): Promise<void> {
  const { runId, resource, seen, observedAt } = input;
  await lockForLoading(trx, { runId });
  if (resource === 'affiliates') await markUnnamedLinks(trx, [...seen.unnamedLinks.values()]);
  if (resource === 'referrals') await markUnownedLinks(trx, observedAt);
  if (resource === 'commissions') await markFormerSales(trx, await findFormerSales(trx, observedAt));
}

/** Returns the living links of these affiliates that none of them names, and that were not observed since. */
export async function findUnnamedLinks(
  trx: DatabaseTransaction,
  affiliates: readonly Listing[],
): Promise<readonly UnnamedLink[]> {
  if (affiliates.length === 0) return [];
  const { rows } = await sql<UnnamedLink>`
    select links.id, links.affiliate_id as "affiliateId", named.observed_at as "observedAt"
    from links
    join unnest(
      ${affiliates.map(({ ownerId }) => ownerId)}::text[],
      ${affiliates.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as named (affiliate_id, observed_at) on links.affiliate_id = named.affiliate_id
    where links._deleted_at is null and links._observed_at <= named.observed_at
      and links.id <> all(${affiliates.flatMap(({ ids }) => ids)}::text[])`.execute(trx);
  return rows;
}

/**
 * Takes those commissions out of the payouts that these do not name, and that were not observed since. Idempotent: yes.
 */
export async function leavePayouts(trx: DatabaseTransaction, payouts: readonly Listing[]): Promise<void> {
  if (payouts.length === 0) return;
  await sql`
    update commissions
    set payout_id = null, _changed_at = (select stamp_changes()), _observed_at = named.observed_at
    from unnest(
      ${payouts.map(({ ownerId }) => ownerId)}::text[],
      ${payouts.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as named (payout_id, observed_at)
    where commissions.payout_id = named.payout_id and commissions._observed_at <= named.observed_at
      and commissions._deleted_at is null
      and not exists (
        select from unnest(${payouts.flatMap(({ ids }) => ids)}::text[]) as listed (id)
        where listed.id = commissions.id
      )`.execute(trx);
}

/**
 * Marks those of the links deleted that no affiliate has named in the meantime. To be called once the whole list of
 * affiliates was read. Idempotent: yes.
 */
export async function markUnnamedLinks(
  trx: DatabaseTransaction,
  unnamed: readonly UnnamedLink[],
): Promise<void> {
  if (unnamed.length === 0) return;
  await sql`
    update links
    set _deleted_at = unnamed.observed_at, _changed_at = (select stamp_changes()), _observed_at = unnamed.observed_at
    from unnest(
      ${unnamed.map(({ id }) => id)}::text[],
      ${unnamed.map(({ affiliateId }) => affiliateId)}::text[],
      ${unnamed.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as unnamed (id, affiliate_id, observed_at)
    where links.id = unnamed.id and links.affiliate_id = unnamed.affiliate_id and links._deleted_at is null
      and links._observed_at <= unnamed.observed_at`.execute(trx);
}

async function markLinksOfGone(
  trx: DatabaseTransaction,
  affiliateIds: readonly string[],
  observedAt: Timestamp,
): Promise<void> {
  const named = affiliateIds.map((ownerId) => ({ ownerId, ids: [], observedAt }));
  await markUnnamedLinks(trx, await findUnnamedLinks(trx, named));
}

/**
 * Marks the links deleted that no known affiliate has and no living referral names. If such a link exists nevertheless,
 * the next affiliate that names it revives it.
 */
async function markUnownedLinks(trx: DatabaseTransaction, observedAt: Timestamp): Promise<void> {
  await sql`
    update links
    set _deleted_at = ${observedAt}::timestamptz, _changed_at = (select stamp_changes()),
      _observed_at = ${observedAt}::timestamptz
    where links.affiliate_id is null and links._deleted_at is null
      and links._observed_at <= ${observedAt}::timestamptz
      and not exists (
        select from referrals living where living.link_id = links.id and living._deleted_at is null
      )`.execute(trx);
}

export interface GoneCommission {
  readonly id: string;
  /** When the request that showed the deletion got its permit. */
  readonly askedAt: Timestamp;
}

export interface FormerSale {
  readonly saleId: string;
  /** When the request that showed its commission without it got its permit. */
  readonly askedAt: Timestamp;
}

const HAS_NO_COMMISSION = sql`not exists (
  select from commissions living where living.sale_id = sales.id and living._deleted_at is null
)`;

/**
 * Marks the sales of these commissions deleted if no living commission has them, however new the sale's own row is: a
 * change of it may have been read with an unchanged commission, which kept an older time. If such a sale exists
 * nevertheless, the next commission that names it revives it. Idempotent: yes.
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

/** The same for sales that commissions had in the past. */
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

async function findFormerSales(trx: DatabaseTransaction, askedAt: Timestamp): Promise<readonly FormerSale[]> {
  const { rows } = await sql<{ id: string }>`
    select id from sales
    where _deleted_at is null and ${HAS_NO_COMMISSION}`.execute(trx);
  return rows.map(({ id }) => ({ saleId: id, askedAt }));
}
