// Brings commissions that were read or changed one by one into the mirror.

import { sql } from 'kysely';
import type { Commission } from '../contract/commission.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { loadBatch } from '../mirror/load-batch.ts';
import { recordRejections } from '../mirror/rejected-records.ts';
import { readPages } from '../records/read-page.ts';

/**
 * One commission as the program answered it. A read is observed when it is asked, a write when it is answered: a read
 * that could have missed the write then always counts as older.
 */
export interface ObservedCommission {
  readonly commission: Commission;
  readonly observedAt: Timestamp;
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

/**
 * Notes that the mirror could not hold the commission. Once: as long as the reason stays the same, a commission that
 * is read every hour makes no further line. `isWhole` false keeps only the record's own plain fields.
 */
export async function rejectCommission(
  trx: DatabaseTransaction,
  { commission, observedAt }: ObservedCommission,
  { reason, isWhole }: { reason: string; isWhole: boolean },
): Promise<void> {
  const { rows } = await sql<{ is_known: boolean }>`
    select exists (
      select from rejected_records
      where run_id is null and resource = 'commissions'
        and coalesce(record_id, md5(payload::text)) = ${commission.id} and reason = ${reason}
    ) as is_known
  `.execute(trx);
  if (rows[0]?.is_known === true) return;
  const payload = isWhole ? commission : plainFields(commission);
  const rejection = { id: commission.id, reason, payload, observedAt };
  await recordRejections(trx, { runId: null, resource: 'commissions' }, [rejection]);
}

function plainFields(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value === null || typeof value !== 'object'),
  );
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
