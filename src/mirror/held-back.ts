// Remembers which rows a run held back instead of marking them deleted, and which of these somebody accepted. Accepting
// marks nothing: what was missing once may be back, and an unchanged row that is met again is not written, so nothing
// here would show it. The next run that reads everything looks for the accepted rows once more, and marks what is gone.

import { sql } from 'kysely';
import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

/**
 * Replaces what is held back of the resource by these rows; those that were held back before stay accepted. Belongs in
 * the transaction that ends a run which looked for deletions. Idempotent: yes.
 */
export async function saveHeldBack(
  trx: DatabaseTransaction,
  { runId, resource }: { runId: number; resource: ListedResource },
  ids: readonly string[],
): Promise<void> {
  await sql`
    delete from held_back_deletions where resource = ${resource} and record_id <> all(${ids}::text[])`.execute(
    trx,
  );
  if (ids.length === 0) return;
  await sql`
    insert into held_back_deletions (resource, record_id, run_id)
    select ${resource}, id, ${runId} from unnest(${ids}::text[]) as id
    on conflict (resource, record_id) do update set run_id = excluded.run_id`.execute(trx);
}

/** Returns the identifiers of the rows whose deletion somebody accepted. */
export async function readAccepted(db: Database, resource: ListedResource): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ record_id: string }>`
    select record_id from held_back_deletions where resource = ${resource} and accepted_at is not null`.execute(
    db,
  );
  return new Set(rows.map(({ record_id }) => record_id));
}

export interface AcceptedDeletions {
  readonly resource: ListedResource;
  /** When the last of them was accepted, in milliseconds since 1970. */
  readonly atMs: number;
}

/** Returns the resources of which accepted deletions are still held back. */
export async function listAccepted(db: Database): Promise<readonly AcceptedDeletions[]> {
  const { rows } = await sql<AcceptedDeletions>`
    select resource, floor(extract(epoch from max(accepted_at)) * 1000)::bigint as "atMs"
    from held_back_deletions where accepted_at is not null
    group by resource order by resource`.execute(db);
  return rows;
}

/** Accepts every deletion that is held back of the resource; returns how many those are. Idempotent: yes. */
export async function acceptHeldBack(
  trx: DatabaseTransaction,
  { resource, acceptedBy }: { resource: ListedResource; acceptedBy: string },
): Promise<number> {
  const answer = await sql<{ count: number }>`
    with accepted as (
      update held_back_deletions
      set accepted_at = coalesce(accepted_at, clock_timestamp()), accepted_by = coalesce(accepted_by, ${acceptedBy})
      where resource = ${resource}
      returning record_id
    )
    select count(*) as count from accepted`.execute(trx);
  return onlyRow(answer, 'the count of what was accepted').count;
}

export interface HeldBackRow {
  readonly resource: ListedResource;
  readonly record_id: string;
  /** The affiliate of a referral or a commission; null for others. */
  readonly affiliate_id: string | null;
  readonly created_at: Timestamp | null;
  readonly run_id: number;
  readonly held_back_at: Timestamp;
  readonly accepted_at: Timestamp | null;
}

/** Returns the rows whose deletions are held back, newest record first: identifiers and times, nothing of a person. */
export async function listHeldBack(
  db: Database,
  resources: readonly ListedResource[],
): Promise<readonly HeldBackRow[]> {
  const { rows } = await sql<HeldBackRow>`
    select h.resource, h.record_id, coalesce(r.affiliate_id, s.affiliate_id) as affiliate_id,
      coalesce(a.created_at, r.created_at, k.created_at, c.created_at) as created_at,
      h.run_id, h.held_back_at, h.accepted_at
    from held_back_deletions h
    left join affiliates a on h.resource = 'affiliates' and a.id = h.record_id
    left join referrals r on h.resource = 'referrals' and r.id = h.record_id
    left join campaigns k on h.resource = 'campaigns' and k.id = h.record_id
    left join commissions c on h.resource = 'commissions' and c.id = h.record_id
    left join sales s on s.id = c.sale_id
    where h.resource = any(${[...resources]}::text[])
    order by h.resource, created_at desc nulls last, h.record_id`.execute(db);
  return rows;
}
