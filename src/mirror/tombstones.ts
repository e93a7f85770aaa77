// Marks what is gone. Knows which rows a run did not meet; whether they are gone is for the caller to find out.

import { CompiledQuery, sql } from 'kysely';
import type { Instant } from '../api/slot.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { toBinaryArray } from './binary-array.ts';
import { markLinksOfGone } from './gone-links.ts';
import { lockForLoading } from './loading-lock.ts';

type TombstonedResource = 'affiliates' | 'referrals' | 'commissions';

export interface Missing {
  /** Living rows of the resource. */
  readonly living: number;
  /** Those of them that the run did not meet. */
  readonly count: number;
  /** Their identifiers in order, at most as many as were asked for. */
  readonly ids: readonly string[];
}

/**
 * Gives back the living rows that the run did not meet. Missing is not deleted: see design, The walk.
 * A row that anything observed since the run began is not among them, nor is a record that the run rejected.
 */
export async function findMissing(
  database: Database | DatabaseTransaction,
  { runId, resource, limit }: { runId: number; resource: TombstonedResource; limit: number },
): Promise<Missing> {
  const table = sql.table(resource);
  const unmet = sql`
    from ${table} kept
    where kept._deleted_at is null
      and kept._observed_at < (select started_at from sync_runs where id = ${runId})
      and not exists (select from seen_ids where run_id = ${runId} and record_id = kept.id)`;
  const counted = await sql<{ living: number; count: number }>`
    select (select count(*) from ${table} where _deleted_at is null) as living,
           (select count(*) ${unmet}) as count`.execute(database);
  const { living = 0, count = 0 } = counted.rows[0] ?? {};
  if (count === 0) return { living, count, ids: [] };
  const found = await sql<{ id: string }>`select kept.id ${unmet} order by kept.id limit ${limit}`.execute(
    database,
  );
  return { living, count, ids: found.rows.map(({ id }) => id) };
}

/**
 * Marks the rows deleted, an affiliate's links with it, and gives back how many rows of the resource it marked. Every other column keeps its value, and a row that was
 * observed later than `observedAt`, or is marked already, is left alone.
 * Idempotent: yes.
 */
export async function applyTombstones(
  trx: DatabaseTransaction,
  input: {
    runId: number | null;
    resource: TombstonedResource;
    ids: readonly string[];
    /** When the request that confirmed the deletion was granted its slot. */
    observedAt: Instant;
  },
): Promise<number> {
  const { runId, resource, ids, observedAt } = input;
  await lockForLoading(trx, { isAlone: true, runId });
  const result = await trx.executeQuery(
    CompiledQuery.raw(
      `update ${resource}
       set _deleted_at = $2::timestamptz, _changed_at = $2::timestamptz, _observed_at = $2::timestamptz
       where id = any($1::text[]) and _deleted_at is null and _observed_at <= $2::timestamptz`,
      [toBinaryArray('text', ids), observedAt],
    ),
  );
  if (resource === 'affiliates') await markLinksOfGone(trx, ids, observedAt);
  return Number(result.numAffectedRows ?? 0);
}
