// What the commands about personal data have in common when they rewrite the mirror.

import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { LOAD_ORDER } from '../records/mirrored-tables.ts';

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

/** Has the triggers write no history until the transaction ends: it would keep what is emptied. */
export async function keepNoHistory(trx: DatabaseTransaction): Promise<void> {
  await sql`select set_config('affiliate_mirror.keeps_history', 'off', true)`.execute(trx);
}

/** The tables that are rewritten. */
const REWRITTEN_TABLES = [...LOAD_ORDER, 'record_history', 'rejected_records', 'commission_updates'];

/**
 * Frees the old versions of rows, and has the planner's statistics made anew, which hold values. The bytes stay in the
 * files until something is written there.
 */
export async function vacuum(db: Database): Promise<void> {
  for (const table of REWRITTEN_TABLES) await sql`vacuum (analyze) ${sql.table(table)}`.execute(db);
}
