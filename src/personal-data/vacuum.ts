// Has Postgres clear away what was rewritten: a row's old version stays in its file until then, and the planner's
// statistics hold values of it until the table is analysed.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { AccessRefused, Busy } from '../errors.ts';
import { LOAD_ORDER } from '../records/mirrored-tables.ts';
import { sleep } from '../sleep.ts';

/** The tables that a rewriting may touch. */
export const REWRITTEN_TABLES: readonly string[] = [
  ...LOAD_ORDER,
  'record_history',
  'rejected_records',
  'sync_runs',
  'optional_lists',
  'tracked_commissions',
  'commission_updates',
  'commission_update_attempts',
];

/** The message for a role that may not rewrite the tables. */
export const ONLY_OWNER =
  'only the owner of the tables can rewrite them: run this as the role that runs affiliate-mirror migrate';

/** How long a transaction that may still see old rows is waited for: that of an autovacuum, above all. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 200;

/**
 * Writes each table anew, without anything that is not a living row: nobody reads or writes it meanwhile. Postgres
 * would keep the rows that an older transaction may still see, so those are waited for.
 *
 * Throws: AccessRefused where the role may not, of which Postgres only warns; Busy where such a transaction does not
 * end; the signal's reason when aborted between two tables; the database's errors.
 */
export async function vacuumFull(
  db: Database,
  tables: Iterable<string>,
  { patienceMs = PATIENCE_MS, signal }: { patienceMs?: number; signal?: AbortSignal } = {},
): Promise<void> {
  await waitForOlderTransactions(db, patienceMs, signal);
  for (const table of tables) {
    signal?.throwIfAborted();
    const before = await readFile(db, table);
    await sql`vacuum (full, analyze) ${sql.table(table)}`.execute(db);
    if ((await readFile(db, table)) === before) throw new AccessRefused(ONLY_OWNER);
  }
}

/** Returns the number of the file that the table is in: a table that was written anew is in another one. */
async function readFile(db: Database, table: string): Promise<number> {
  const answer = await sql<{ file: number }>`select pg_relation_filenode(${table}::regclass) as file`.execute(
    db,
  );
  return onlyRow(answer, table).file;
}

// First the transactions that write, in every database of the server: whoever begins beside them takes them for the
// oldest whose rows matter, and so does vacuum. Then those of this database that began before that.
async function waitForOlderTransactions(
  db: Database,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  const untilEnded = async (isOver: () => Promise<boolean>) => {
    while (!(await isOver())) {
      if (performance.now() > deadlineMs) {
        throw new Busy(
          'a transaction that began earlier may still read the old rows, so they cannot be cleared away: end it (pg_stat_activity and pg_prepared_xacts show the oldest) and run this command again',
        );
      }
      await sleep(PAUSE_MS, signal);
    }
  };
  const { next } = await readNumbers(db);
  await untilEnded(async () => (await readNumbers(db)).oldest >= next);
  let older = await listTransactions(db);
  await untilEnded(async () => {
    const open = new Set(await listTransactions(db));
    older = older.filter((transaction) => open.has(transaction));
    return older.length === 0;
  });
}

/** Returns the number of the oldest transaction that writes, in any database, and the number that is given next. */
async function readNumbers(db: Database): Promise<{ oldest: bigint; next: bigint }> {
  const answer = await sql<{ oldest: string; next: string }>`
    select pg_snapshot_xmin(now)::text as oldest, pg_snapshot_xmax(now)::text as next
    from pg_current_snapshot() as now`.execute(db);
  const { oldest, next } = onlyRow(answer, 'pg_current_snapshot');
  return { oldest: BigInt(oldest), next: BigInt(next) };
}

/** Returns the transactions that are open in this database, whoever's: every role may see these. */
async function listTransactions(db: Database): Promise<string[]> {
  const { rows } = await sql<{ transaction: string }>`
    select lock.virtualtransaction as transaction
    from pg_locks lock
    join pg_stat_activity activity using (pid)
    where lock.locktype = 'virtualxid' and lock.granted
      and activity.datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  return rows.map(({ transaction }) => transaction);
}

/** Frees the old versions, whose bytes stay in the file until something is written there; nobody waits for it. */
export async function vacuum(db: Database, tables: Iterable<string>): Promise<void> {
  for (const table of tables) await sql`vacuum (analyze) ${sql.table(table)}`.execute(db);
}
