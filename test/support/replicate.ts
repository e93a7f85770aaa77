// Copies a mirror as logical replication does: its rows, written by a session that fires no triggers, and not how far its
// identities have come.

import type pg from 'pg';

/** Into a mirror that `migrate` has made, from which the rows that it put there are taken first. */
export async function replicate(from: pg.Pool, to: pg.Pool): Promise<void> {
  const { rows: tables } = await from.query<{ table: string; columns: string }>(`
    select relname as table, string_agg(attname, ', ' order by attnum) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and attgenerated = ''
    where relnamespace = 'mirror'::regnamespace and relkind = 'r' and relpersistence = 'p'
      and relname <> 'schema_migrations'
    group by relname`);
  const client = await to.connect();
  try {
    await client.query(`set session_replication_role = replica`);
    await client.query(`truncate ${tables.map(({ table }) => table).join(', ')}`);
    for (const { table, columns } of tables) {
      const { rows } = await from.query<{ all: string }>(
        `select coalesce(jsonb_agg(kept), '[]')::text as all from ${table} kept`,
      );
      await client.query(
        `insert into ${table} (${columns}) overriding system value
         select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
        [rows[0]?.all],
      );
    }
  } finally {
    client.release(true);
  }
}
