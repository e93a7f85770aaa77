// The parts that all commands share which rewrite personal data in the mirror.

import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { LOAD_ORDER } from '../../decode/mirrored-tables.ts';

/** How many rows were rewritten, by table. */
export type RowCounts = Map<string, number>;

/** Adds the rows that a statement rewrote to those of the table. */
export function count(
  counts: RowCounts,
  table: string,
  { numAffectedRows = 0n }: { readonly numAffectedRows?: bigint },
): void {
  if (numAffectedRows > 0n) counts.set(table, (counts.get(table) ?? 0) + Number(numAffectedRows));
}

/** Turns the history off until the transaction ends: it would keep the values that are emptied. */
export async function keepNoHistory(trx: DatabaseTransaction): Promise<void> {
  await sql`select set_config('affiliate_mirror.keeps_history', 'off', true)`.execute(trx);
}

/** The tables that hold values of records. */
export const RECORD_TABLES: readonly string[] = [...LOAD_ORDER, 'record_history', 'rejected_records'];

/**
 * Frees the old versions of rows, and renews the planner's statistics, which hold values. The bytes stay in the files
 * until Postgres writes there again.
 */
export async function vacuum(db: Database): Promise<void> {
  for (const table of [...RECORD_TABLES, 'commission_updates'])
    await sql`vacuum (analyze) ${sql.table(table)}`.execute(db);
}
