// Which rows are new since a list was last read as it should be. Whatever a run stored that ended otherwise is new: it
// says nothing of the records that come after it in the list.

import { sql } from 'kysely';
import type { ListedResource } from '../../contract/resources.ts';
import type { Database } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';

/**
 * Returns whether some of the records have a row, and none of these was first seen after the end of the last verified
 * run of the resource; false where there is no such run. What was rejected has no row, and may be new.
 */
export async function areRowsOld(
  db: Database,
  { resource, ids }: { resource: ListedResource; ids: readonly string[] },
): Promise<boolean> {
  const answer = await sql<{ are_old: boolean }>`
    select coalesce(bool_and(_first_seen_at <= coalesce(
      (select max(finished_at) from sync_runs where resource = ${resource} and verified),
      '-infinity'
    )), false) as are_old
    from ${sql.table(resource)} where id = any(${ids}::text[])`.execute(db);
  return onlyRow(answer, 'the age of the rows').are_old;
}
