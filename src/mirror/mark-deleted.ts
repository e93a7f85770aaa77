// Finds the rows that a run did not meet, and marks rows deleted. Whether a missing row is gone, the caller finds out.

import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { toBinaryArray } from '../records/binary-array.ts';
import { markLinksOfGone, markUnnamedLinks, markUnownedLinks } from './gone-links.ts';
import { findFormerSales, markFormerSales, markSalesOfGone } from './gone-sales.ts';
import { lockForLoading } from './load-batch.ts';
import type { SeenRows } from './runs/seen-rows.ts';

export interface Missing {
  /** Rows of those looked at that are not marked deleted. */
  readonly living: number;
  /** The identifiers of those that the run did not meet, in order. */
  readonly ids: readonly string[];
}

/**
 * Returns the rows, of those not marked deleted, that the run did not meet. Missing is not deleted: see
 * docs/design.md, Walks. `among` is a condition on the rows that are looked at. A row that was observed since the run
 * began is not among them, nor is a record that the run rejected.
 */
export async function findMissing(
  database: Database | DatabaseTransaction,
  {
    runId,
    resource,
    seen,
    among = sql<boolean>`true`,
  }: { runId: number; resource: ListedResource; seen: SeenRows; among?: RawBuilder<boolean> },
): Promise<Missing> {
  const bits = seen.bits();
  // `case`, because get_bit fails beyond the last bit, and Postgres may ask the parts of an `and` in any order.
  const answer = await sql<Missing>`
    select count(*) as living,
      coalesce(array_agg(kept.id) filter (where kept.is_unmet and kept.id <> all(${[...seen.rejected]}::text[])), '{}') as ids
    from (
      select id,
        _observed_at < (select started_at from sync_runs where id = ${runId})
          and case when _row_number < ${bits.length * 8} then get_bit(${bits}, _row_number) = 0 else true end as is_unmet
      from ${sql.table(resource)}
      where _deleted_at is null and ${among}
    ) kept`.execute(database);
  const { living, ids } = onlyRow(answer, resource);
  return { living, ids: ids.toSorted() };
}

/**
 * Marks deleted what the records of the resource no longer name, now that its whole list was read: links that no
 * affiliate names, links without an affiliate that no referral names, and sales that no commission has. `observedAt` is
 * a time before which the list was asked for. To be called after markDeleted. Idempotent: yes.
 */
export async function markUnnamed(
  trx: DatabaseTransaction,
  input: { runId: number; resource: ListedResource; seen: SeenRows; observedAt: Timestamp },
): Promise<void> {
  const { runId, resource, seen, observedAt } = input;
  await lockForLoading(trx, { isAlone: true, runId });
  if (resource === 'affiliates') await markUnnamedLinks(trx, [...seen.unnamedLinks.values()]);
  if (resource === 'referrals') await markUnownedLinks(trx, observedAt);
  if (resource === 'commissions') await markFormerSales(trx, await findFormerSales(trx, observedAt));
}

/**
 * Marks the rows deleted, with them an affiliate's links, those that only these referrals named and the sales that only
 * these commissions have, and returns how many rows of the resource it marked. Every other column keeps its value, and
 * a row that was observed later than `observedAt`, or is marked already, is left alone.
 * Idempotent: yes.
 */
export async function markDeleted(
  trx: DatabaseTransaction,
  input: {
    runId: number | null;
    resource: ListedResource;
    ids: readonly string[];
    /** When the request that confirmed the deletion was granted its permit. */
    observedAt: Timestamp;
  },
): Promise<number> {
  const { runId, resource, ids, observedAt } = input;
  await lockForLoading(trx, { isAlone: true, runId });
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
  // One that is left alone has its links still, however old their rows are: a referral that names it shows none.
  if (resource === 'affiliates') await markLinksOfGone(trx, marked, observedAt);
  if (resource === 'referrals') await markUnownedLinks(trx, observedAt);
  if (resource === 'commissions') {
    await markSalesOfGone(
      trx,
      ids.map((id) => ({ id, askedAt: observedAt })),
    );
  }
  return marked.length;
}
