// A reader of mirrored tables who keeps copies of them and asks only for what is above the watermark of each.

import type { Pool } from '../../src/db/connect/shared-pool.ts';
import type { MirroredTable } from '../../src/decode/mirrored-tables.ts';

export interface WatermarkReader {
  /** Reads once what is new in every table. */
  poll(): Promise<void>;
  /** The rows of a table and those of its copy, without the time of the last look, which is no change. */
  compare(
    table: MirroredTable,
  ): Promise<{ readonly mirror: readonly object[]; readonly copy: readonly object[] }>;
}

/** Makes a copy of each table, empty, in the schema `copy`. */
export async function makeWatermarkReader(
  pool: Pool,
  tables: readonly MirroredTable[],
): Promise<WatermarkReader> {
  await pool.query('drop schema if exists copy cascade; create schema copy');
  const loads: string[] = [];
  for (const table of tables) {
    await pool.query(`create table copy.${table} (like mirror.${table}, primary key (id))`);
    const { rows } = await pool.query<{ column: string }>(
      `select attname as column from pg_attribute
       where attrelid = 'mirror.${table}'::regclass and attnum > 0 and not attisdropped`,
    );
    const assignments = rows.map(({ column }) => `${column} = excluded.${column}`);
    loads.push(
      `insert into copy.${table} select * from mirror.${table}
       where _changed_at > (select coalesce(max(_changed_at), '-infinity') from copy.${table})
       on conflict (id) do update set ${assignments.join(', ')}`,
    );
  }
  const read = async (table: string) => {
    const { rows } = await pool.query<Record<string, unknown>>(`select * from ${table} order by id`);
    return rows.map(({ _observed_at, ...row }) => row);
  };
  return {
    async poll() {
      for (const load of loads) await pool.query(load);
    },
    compare: async (table) => ({
      mirror: await read(`mirror.${table}`),
      copy: await read(`copy.${table}`),
    }),
  };
}
