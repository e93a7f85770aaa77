// How large the tables and the database are, cheaply enough to be asked every few seconds: large tables are estimated.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { LOAD_ORDER } from '../records/mirrored-tables.ts';

export interface TableSize {
  readonly table_name: string;
  /** With its indexes. */
  readonly bytes: number;
  /** Rows that are marked deleted are among them; an estimate for tables above 8 MB. Null: no mirrored table. */
  readonly rows: number | null;
}

export interface Sizes {
  readonly tables: readonly TableSize[];
  /** Of the whole database, which may hold more than the mirror. */
  readonly database_bytes: number;
}

/** Counting a table of this size takes a few milliseconds. */
const SMALL_BYTES = 8 * 1024 * 1024;

/** Returns the sizes at this moment. */
export async function readSizes(db: Database): Promise<Sizes> {
  // A branch of a case that is not taken is not evaluated: no large table is counted.
  const counted = LOAD_ORDER.map(
    (table) => sql`
      select ${table}::text as table_name, case
        when pg_relation_size(${table}::regclass) < ${SMALL_BYTES} then (select count(*) from ${sql.table(table)})
        else (
          select case when reltuples < 0 then pg_stat_get_live_tuples(oid) else reltuples::bigint end
          from pg_class where oid = ${table}::regclass)
      end as rows`,
  );
  const { rows: tables } = await sql<TableSize>`
    select c.relname::text as table_name, pg_total_relation_size(c.oid) as bytes, counted.rows
    from pg_class c
    left join (${sql.join(counted, sql` union all `)}) counted on counted.table_name = c.relname
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    order by c.relname`.execute(db);
  const answer = await sql<{ database_bytes: number }>`
    select pg_database_size(current_database()) as database_bytes`.execute(db);
  return { tables, database_bytes: onlyRow(answer, 'the size of the database').database_bytes };
}
