// Loads payouts that were read or paid one by one into the mirror, with their commissions: see mirror-commissions.ts.

import type { Payout } from '../contract/payout.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { isRefusal } from '../db/database-errors.ts';
import { transact } from '../db/transact.ts';
import { decodePage } from '../decode/decode-page.ts';
import { PLAIN, type Treatment } from '../decode/treatment.ts';
import { loadBatch } from '../mirror/load-batch.ts';
import { lockForLoading } from '../mirror/load-lock.ts';
import { markDeleted } from '../mirror/mark-deleted.ts';
import { recordRejections } from '../mirror/rejected-records.ts';

/** One payout as it was answered, observed as a commission is. */
export interface ObservedPayout {
  readonly payout: Payout;
  readonly observedAt: Timestamp;
}

/** A payout as it was answered, or when it was asked for and found to be gone. */
export interface PayoutObservation {
  readonly payoutId: string;
  readonly observed: ObservedPayout | null;
  readonly goneAt: Timestamp | null;
}

/**
 * Mirrors the payouts that were answered, with their commissions, and marks those that are gone. Idempotent: yes.
 *
 * Throws: PersonalDataMismatch.
 */
export async function mirrorPayouts(
  trx: DatabaseTransaction,
  observations: readonly PayoutObservation[],
  treatment: Treatment = PLAIN,
): Promise<void> {
  const pages = observations.flatMap(({ observed }) =>
    observed === null ? [] : [{ observedAt: observed.observedAt, records: [observed.payout] }],
  );
  if (pages.length > 0) {
    const read = decodePage({ resource: 'payouts', drift: null, treatment, fast: null }, pages);
    await loadBatch(trx, { run: null, resource: 'payouts', pages: [read], touch: true });
  }
  for (const { payoutId, goneAt } of observations) {
    if (goneAt === null) continue;
    await markDeleted(trx, { runId: null, resource: 'payouts', ids: [payoutId], observedAt: goneAt });
  }
}

/** Notes that the mirror could not hold the payout, as `rejectCommission` does. */
export async function rejectPayout(
  db: Database,
  { payout, observedAt }: ObservedPayout,
  reason: string,
  treatment: Treatment = PLAIN,
): Promise<void> {
  const { id } = payout;
  const payload = treatment.treatRefused(id, payout);
  try {
    await transact(db, async (trx) => {
      await lockForLoading(trx, { runId: null, treatment });
      await recordRejections(trx, { runId: null, resource: 'payouts' }, [
        { id, reason, payload, observedAt },
      ]);
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}
