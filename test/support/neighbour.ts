// Another program's schema, in every database of the tests' template: so each file of tests is the test that nothing of
// a neighbour is read or written.

import type { Pool } from '../../src/db/connect/shared-pool.ts';

export const NEIGHBOUR = 'neighbour';

/** Returns what was touched of the neighbour; null if nothing was, or the test ended the database. */
export async function findTouchedNeighbour(pool: Pool): Promise<string | null> {
  const asking = pool.query<{ tables: string }>(
    `select string_agg(relname, ', ' order by relname) as tables from pg_stat_user_tables
     where schemaname = $1 and seq_scan + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del > 0
     having count(*) > 0`,
    [NEIGHBOUR],
  );
  const [found] = await asking.then(
    ({ rows }) => rows,
    () => [],
  );
  return found === undefined ? null : `a test touched tables of a neighbour: ${found.tables}`;
}
