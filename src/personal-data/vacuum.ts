// Has Postgres clear away what was rewritten: a row's old version stays in its file until then, and the planner's
// statistics hold values of it until the table is analysed.

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { Busy } from '../errors.ts';

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

/** How long a transaction that may still see old rows is waited for: that of an autovacuum, above all. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 200;

/**
 * Writes each table anew, without anything that is not a living row: nobody reads or writes it meanwhile. Postgres would
 * keep the rows that an older transaction may still see, so those are waited for.
 *
 * Throws: Busy where one does not end; the database's errors.
 */
export async function vacuumFull(
  db: Database,
  tables: Iterable<string>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  await waitForOlderTransactions(db, patienceMs);
  for (const table of tables) await sql`vacuum (full, analyze) ${sql.table(table)}`.execute(db);
}

async function waitForOlderTransactions(db: Database, patienceMs: number): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  let older = await listTransactions(db);
  while (older.size > 0) {
    if (performance.now() > deadlineMs) {
      throw new Busy(
        `a transaction that began earlier may still read the old rows, so they cannot be cleared away (process ${[...older.values()].join(', ')} of Postgres, see pg_stat_activity): end it and run this command again`,
      );
    }
    await sleep(PAUSE_MS);
    const now = await listTransactions(db);
    older = new Map([...older].filter(([transaction]) => now.has(transaction)));
  }
}

/** Returns the process of each transaction that is open in this database, whoever's: every role may see these. */
async function listTransactions(db: Database): Promise<Map<string, number>> {
  const { rows } = await sql<{ transaction: string; pid: number }>`
    select lock.virtualtransaction as transaction, pid
    from pg_locks lock
    join pg_stat_activity activity using (pid)
    where lock.locktype = 'virtualxid' and lock.granted
      and activity.datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  return new Map(rows.map(({ transaction, pid }) => [transaction, pid]));
}

/** Frees the old versions, whose bytes stay in the file until something is written there; nobody waits for it. */
export async function vacuum(db: Database, tables: Iterable<string>): Promise<void> {
  for (const table of tables) await sql`vacuum (analyze) ${sql.table(table)}`.execute(db);
}
