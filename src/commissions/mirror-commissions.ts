// Brings commissions that were read or changed one by one into the mirror. Knows when an answer counts as observed;
// how rows are written is the mirror's.

import { sql } from 'kysely';
import type { Instant } from '../api/slot.ts';
import type { Commission } from '../contract/commission.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { loadBatch } from '../mirror/load-batch.ts';
import { readPages } from '../mirror/read-page.ts';

/**
 * One commission as the program answered it. A read is as old as its question, a write as young as its answer: a read
 * that could have missed the write then always counts as older.
 */
export interface ObservedCommission {
  readonly commission: Commission;
  readonly observedAt: Instant;
}

/** Loads the commissions with their sales, referrals, affiliates and campaigns. Idempotent: yes. */
export async function mirrorCommissions(
  trx: DatabaseTransaction,
  observed: readonly ObservedCommission[],
): Promise<void> {
  if (observed.length === 0) return;
  const pages = observed.map(({ commission, observedAt }) => ({ observedAt, records: [commission] }));
  const read = readPages({ cache: null, drift: null }, 'commissions', pages);
  await loadBatch(trx, { run: null, resource: 'commissions', pages: [read] });
}

/** Marks the commissions that the program no longer has; what the mirror never had stays unknown. */
export async function markCommissionsDeleted(
  trx: DatabaseTransaction,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update commissions
    set _deleted_at = moment.now, _changed_at = moment.now, _observed_at = moment.now
    from (select clock_timestamp() as now) as moment
    where id = any(${ids}::text[]) and _deleted_at is null
  `.execute(trx);
}
