// Loads commissions that were read or changed one by one into the mirror, as far as the database takes them. The API's
// answer is a fact even if the mirror cannot hold it: a commission that is refused goes to rejected_records with the
// reason.
//
// Decision: after a refusal the rest is written again without the commission, in a transaction of its own, instead of
// behind a savepoint. A savepoint would cost every settlement two round trips, would not catch a constraint that is
// checked at the commit, and would leave several loads in one transaction, which may then deadlock with other loads.

import { sql } from 'kysely';
import type { Commission } from '../contract/commission.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { isRefusal } from '../db/database-errors.ts';
import { transact } from '../db/transact.ts';
import { decodePage } from '../decode/decode-page.ts';
import { PLAIN, type Treatment } from '../decode/treatment.ts';
import { loadBatch } from '../mirror/load-batch.ts';
import { lockForLoading } from '../mirror/load-lock.ts';
import {
  type FormerSale,
  type GoneCommission,
  markFormerSales,
  markSalesOfGone,
} from '../mirror/mark-deleted.ts';
import { recordRejections } from '../mirror/rejected-records.ts';
import { trackObserved } from './poll/track-commissions.ts';

/**
 * One commission as it was answered. A read is observed when it is asked, a write when it is answered: a read that
 * could have missed the write then always counts as older.
 */
export interface ObservedCommission {
  readonly commission: Commission;
  readonly observedAt: Timestamp;
}

/** A commission as it was answered, or when it was asked for and found to be gone. */
export interface Observation {
  readonly commissionId: string;
  readonly observed: ObservedCommission | null;
  readonly goneAt: Timestamp | null;
}

/** Mirrors the commissions that were answered, and marks those that are gone. Throws: PersonalDataMismatch. */
export async function mirrorObservations(
  trx: DatabaseTransaction,
  observations: readonly Observation[],
  treatment?: Treatment,
): Promise<void> {
  const observed = observations.flatMap((one) => (one.observed === null ? [] : [one.observed]));
  await mirrorCommissions(trx, observed, treatment);
  const gone = observations.flatMap(({ commissionId, goneAt }) =>
    goneAt === null ? [] : [{ id: commissionId, askedAt: goneAt }],
  );
  await markCommissionsDeleted(trx, gone);
}

/**
 * Loads the commissions with their sales, referrals, affiliates and campaigns. No page of a list that was asked for
 * before they were observed overwrites them, even if they changed nothing. Idempotent: yes.
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
  const read = decodePage({ resource: 'commissions', drift: null, treatment, fast: null }, pages);
  const former = await findFormer(trx, observed);
  await loadBatch(trx, { run: null, resource: 'commissions', pages: [read], touch: true });
  await markFormerSales(trx, former);
}

/** Returns the sales that these commissions have in the mirror, and no longer in the affiliate program. */
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
 * Notes in rejected_records that the mirror could not hold the commission, in place of an earlier note, and tracks it,
 * so that it is asked for again. If the database refuses that too, nothing is noted.
 *
 * Throws: PersonalDataMismatch; the database's errors that are no refusal.
 */
export async function rejectCommission(
  db: Database,
  { commission, observedAt }: ObservedCommission,
  reason: string,
  treatment: Treatment = PLAIN,
): Promise<void> {
  const { id } = commission;
  const payload = treatment.treatRefused(id, commission);
  try {
    await transact(db, async (trx) => {
      await lockForLoading(trx, { runId: null, treatment });
      const rejection = { id, reason, payload, observedAt };
      await recordRejections(trx, { runId: null, resource: 'commissions' }, [rejection]);
      await trackObserved(trx, [id]);
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/**
 * Marks the commissions that the affiliate program no longer has as deleted, and their sales. A commission that was
 * observed since it was asked for stays; one that the mirror never had stays unknown.
 */
export async function markCommissionsDeleted(
  trx: DatabaseTransaction,
  gone: readonly GoneCommission[],
): Promise<void> {
  if (gone.length === 0) return;
  await lockForLoading(trx, { runId: null });
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
