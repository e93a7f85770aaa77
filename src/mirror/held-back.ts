// The rows that a run held back instead of marking them deleted, and those of them that a user accepted. Accepting
// marks no row: the record may exist again, and an unchanged row is not written when it is met, so the mirror would not
// show that. The next run that reads everything looks for the accepted rows once more, and marks those that are
// missing.

import { sql } from 'kysely';
import type { ListedResource } from '../contract/resources.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

/**
 * Replaces the held back rows of the resource by these; accepted ones among them stay accepted. Belongs in the
 * transaction that ends a run which looked for deletions. Idempotent: yes.
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

/** Returns the identifiers of the rows whose deletion a user accepted. */
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

/** Accepts all held back deletions of the resource, and returns their number. Idempotent: yes. */
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
  return onlyRow(answer, 'the count of accepted deletions').count;
}
