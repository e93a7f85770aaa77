// Brings commissions that were read or changed one by one into the mirror.

import { sql } from 'kysely';
import type { Commission } from '../contract/commission.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import {
  type FormerSale,
  type GoneCommission,
  markFormerSales,
  markSalesOfGone,
} from '../mirror/gone-sales.ts';
import { loadBatch, lockForLoading } from '../mirror/load-batch.ts';
import { recordRejections } from '../mirror/rejected-records.ts';
import { readPages } from '../records/read-page.ts';
import { PLAIN, type Treatment } from '../records/treatment.ts';

/**
 * One commission as the program answered it. A read is observed when it is asked, a write when it is answered: a read
 * that could have missed the write then always counts as older.
 */
export interface ObservedCommission {
  readonly commission: Commission;
  readonly observedAt: Timestamp;
}

/**
 * Loads the commissions with their sales, referrals, affiliates and campaigns. No page of a list that was asked for
 * before they were observed overwrites them, also where they changed nothing. Idempotent: yes.
 *
 * Throws: PersonalDataMismatch.
 */
export async function mirrorCommissions(
  trx: DatabaseTransaction,
  observed: readonly ObservedCommission[],
  treatment: Treatment = PLAIN,
): Promise<void> {
  if (observed.length === 0) return;
  const pages = observed.map(({ commission, observedAt }) => ({ observedAt, records: [commission] }));
  const read = readPages({ cache: null, drift: null, treatment }, 'commissions', pages);
  const former = await findFormer(trx, observed);
  await loadBatch(trx, { run: null, resource: 'commissions', pages: [read], touch: true });
  await markFormerSales(trx, former);
}

/** Returns the sales that the mirror has of these commissions, where the program has another one now, or none. */
async function findFormer(
  trx: DatabaseTransaction,
  observed: readonly ObservedCommission[],
): Promise<readonly FormerSale[]> {
  const stated = observed.filter(({ commission }) => commission.sale !== undefined);
  const { rows } = await sql<FormerSale>`
    select commissions.sale_id as "saleId", max(read.asked_at) as "askedAt"
    from unnest(
      ${stated.map(({ commission }) => commission.id)}::text[],
      ${stated.map(({ commission }) => commission.sale?.id ?? null)}::text[],
      ${stated.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as read (id, sale_id, asked_at)
    join commissions using (id)
    where commissions.sale_id is distinct from read.sale_id and commissions.sale_id is not null
    group by commissions.sale_id`.execute(trx);
  return rows;
}

/**
 * Notes that the mirror could not hold the commission, in place of what was noted of it before. `isWhole` false keeps
 * only the record's own plain fields.
 */
export async function rejectCommission(
  trx: DatabaseTransaction,
  { commission, observedAt }: ObservedCommission,
  { reason, isWhole }: { reason: string; isWhole: boolean },
  treatment: Treatment = PLAIN,
): Promise<void> {
  const { id } = commission;
  await lockForLoading(trx, { isAlone: false, runId: null, treatment });
  const payload = treatment.treatRefused(id, isWhole ? commission : plainFields(commission));
  const rejection = { id, reason, payload, observedAt };
  await recordRejections(trx, { runId: null, resource: 'commissions' }, [rejection]);
}

function plainFields(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value === null || typeof value !== 'object'),
  );
}

/**
 * Marks the commissions that the program no longer has, and their sales. One that was observed since it was asked for
 * is left alone; what the mirror never had stays unknown.
 */
export async function markCommissionsDeleted(
  trx: DatabaseTransaction,
  gone: readonly GoneCommission[],
): Promise<void> {
  if (gone.length === 0) return;
  await lockForLoading(trx, { isAlone: false, runId: null });
  await sql`
    update commissions
    set _deleted_at = asked_at, _changed_at = (select stamp_changes()), _observed_at = asked_at
    from unnest(${gone.map(({ id }) => id)}::text[], ${gone.map(({ askedAt }) => askedAt)}::timestamptz[])
      as gone (id, asked_at)
    where commissions.id = gone.id and _deleted_at is null
      and _observed_at <= asked_at
  `.execute(trx);
  await markSalesOfGone(trx, gone);
}
