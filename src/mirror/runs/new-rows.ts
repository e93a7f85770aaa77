// Counts which rows are new since a list was last read as it should be. Whatever a run stored that ended otherwise is
// new: it says nothing of the records that come after it in the list.

import { sql } from 'kysely';
import type { ListedResource } from '../../contract/resources.ts';
import type { Database } from '../../db/database.ts';

/**
 * Returns how many of the records have a row that was first seen after the end of the last verified run of the
 * resource; all that have one where there is no such run.
 */
export async function countNewRows(
  db: Database,
  { resource, ids }: { resource: ListedResource; ids: readonly string[] },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(resource)}
    where id = any(${ids}::text[]) and _first_seen_at > coalesce(
      (select max(finished_at) from sync_runs where resource = ${resource} and verified), '-infinity'
    )`.execute(db);
  return rows[0]?.count ?? 0;
}
