// Has Postgres clear away what was rewritten: a row's old version stays in its file until then, and the planner's
// statistics hold values of it until the table is analysed.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** The tables that a rewriting may touch. */
export const REWRITTEN_TABLES = [
  'campaigns',
  'affiliates',
  'links',
  'referrals',
  'sales',
  'commissions',
  'record_history',
  'rejected_records',
  'sync_runs',
  'commission_list',
  'tracked_commissions',
  'commission_updates',
  'commission_update_attempts',
] as const;

/** Writes each table anew, without anything that is not a living row: nobody reads or writes it meanwhile. */
export async function vacuumFull(db: Database, tables: Iterable<string>): Promise<void> {
  for (const table of tables) await sql`vacuum (full, analyze) ${sql.table(table)}`.execute(db);
}

/** Frees the old versions, whose bytes stay in the file until something is written there; nobody waits for it. */
export async function vacuum(db: Database, tables: Iterable<string>): Promise<void> {
  for (const table of tables) await sql`vacuum (analyze) ${sql.table(table)}`.execute(db);
}
