// The progress of the pruning, in the table pruned_tables: which tables are due, and where a pass goes on.

import { sql } from 'kysely';
import type { Retention } from '../../config/process/retention.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import type { Batch } from './prune-batch.ts';
import { PRUNED_TABLES, type PrunedTable } from './pruned-tables.ts';

/** Between two passes over a table. */
const PAUSE_MINUTES = 60;
/** The age from which a pass starts over, because the reason to keep a row may have passed. */
const AGAIN_DAYS = 7;

export interface Pass {
  readonly cutoff: Timestamp;
  readonly reached: number;
}

/** Returns the tables to prune now, in their order; `days` is null if their rows are kept for ever. */
export async function listDueTables(
  db: Database,
  retention: Retention,
): Promise<readonly { readonly table: PrunedTable; readonly days: number | null }[]> {
  const { rows } = await sql<{ table_name: string }>`
    select table_name from pruned_tables
    where looked_at > clock_timestamp() - make_interval(mins => ${PAUSE_MINUTES})`.execute(db);
  const done = new Set(rows.map(({ table_name }) => table_name));
  return PRUNED_TABLES.filter(({ name }) => !done.has(name)).map((table) => ({
    table,
    days: table.keepDays(retention),
  }));
}

/** Stores the setting, and returns where the pass over the table begins. */
export async function beginPass(db: Database, table: string, days: number): Promise<Pass> {
  const answer = await sql<Pass>`
    insert into pruned_tables as known (table_name, keep_days, begun_at)
    values (${table}, ${days}, clock_timestamp())
    on conflict (table_name) do update
    set keep_days = excluded.keep_days,
        reached = case when known.begun_at > clock_timestamp() - make_interval(days => ${AGAIN_DAYS}) then known.reached else 0 end,
        begun_at = case when known.begun_at > clock_timestamp() - make_interval(days => ${AGAIN_DAYS}) then known.begun_at else excluded.begun_at end
    returning reached, clock_timestamp() - make_interval(days => ${days}) as cutoff`.execute(db);
  return onlyRow(answer, 'pruned_tables');
}

/** Stores the result of a batch, in its transaction. */
export async function noteBatch(
  trx: DatabaseTransaction,
  table: string,
  { cutoff, batch: { deleted, reached } }: { cutoff: Timestamp; batch: Batch },
): Promise<void> {
  const at =
    deleted === 0
      ? sql``
      : sql`, last_deleted_at = clock_timestamp(), pruned_before = greatest(pruned_before, ${cutoff})`;
  await sql`
    update pruned_tables set reached = ${reached}, rows_deleted = rows_deleted + ${deleted} ${at}
    where table_name = ${table}`.execute(trx);
}

/** Stores that the pass over the table is complete. Idempotent: yes. */
export async function endPass(db: Database, table: string, days: number | null): Promise<void> {
  await sql`
    insert into pruned_tables (table_name, keep_days, looked_at) values (${table}, ${days}, clock_timestamp())
    on conflict (table_name) do update set keep_days = excluded.keep_days, looked_at = excluded.looked_at`.execute(
    db,
  );
}
