// What operations hear of the books: the differences of noted comparisons, without those that were accepted. What a
// later comparison did not compare, it says nothing of: there the difference stays.

import { sql } from 'kysely';
import { ConfigError } from '../../base/errors.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { isDifference, type ReconciledRow } from './reconcile-books.ts';

/** A file of payments, or the payment ledger with the unpaid commissions of the mirror. */
type Books = 'file' | 'payment_ledger';

/** The result of a comparison, as it is stored. */
export interface Comparison {
  readonly books: Books;
  /** Payments before this were left out; null if none were. */
  readonly since: Timestamp | null;
  /** What was compared; also differences that were accepted. */
  readonly rows: readonly ReconciledRow[];
  /** Commissions that have no row since these books and the API agree that there is nothing to compare. */
  readonly settled: readonly string[];
}

/** Returns the difference as text, which is another one if anything of it changes. */
export function spellDifference({ line, ...difference }: ReconciledRow): string {
  const { commission_id, finding, books_paid_at, program_paid_at, ...money } = difference;
  return JSON.stringify([
    ...[commission_id, finding, books_paid_at, program_paid_at],
    ...[money.books_amount, money.program_amount, money.books_currency, money.program_currency],
  ]);
}

/** Returns why differences of these books were accepted, by the text of the difference. */
export async function readAccepted(db: Database, books: Books): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ difference: string; reason: string }>`
    select difference, reason from books_differences where books = ${books} and reason is not null`.execute(
    db,
  );
  return new Map(rows.map(({ difference, reason }) => [difference, reason]));
}

/**
 * Notes the differences, and ends those of earlier comparisons of the same books that this one compared, too, and did
 * not find. One that left out more payments is not noted while there are differences. An accepted difference stays so
 * until it changes. Idempotent: yes.
 *
 * Returns the commissions of differences that stay, since this one did not compare them.
 */
export async function noteComparison(
  db: Database,
  { books, since, rows, settled }: Comparison,
): Promise<readonly string[]> {
  return await transact(db, async (trx) => {
    const { rows: noted } = await sql`
      insert into books_comparisons as noted (books, since, compared, differing)
      values (${books}, ${since}, ${rows.length}, 0)
      on conflict (books) do update
      set since = excluded.since, compared_at = excluded.compared_at, compared = excluded.compared
      where noted.differing = 0 or excluded.since is null or excluded.since <= noted.since
      returning books`.execute(trx);
    if (noted.length === 0) return [];
    const staying = await findStaying(trx, { books, rows, settled });
    await sql`
      delete from books_differences
      where books = ${books} and reason is null and commission_id <> all(${[...staying]}::text[])`.execute(
      trx,
    );
    const found = rows.filter((row) => isDifference(row) && !staying.has(row.commission_id));
    await sql`
      insert into books_differences as known (books, commission_id, difference)
      select ${books}, *
      from unnest(${found.map(({ commission_id }) => commission_id)}::text[], ${found.map(spellDifference)}::text[])
      on conflict (books, commission_id) do update
      set difference = excluded.difference, reason = null, accepted_by = null, accepted_at = null
      where known.difference <> excluded.difference`.execute(trx);
    await countDiffering(trx);
    return [...staying];
  });
}

/** Returns the commissions of noted differences that were not compared now, or not by the amount or currency. */
async function findStaying(
  trx: DatabaseTransaction,
  { books, rows, settled }: Pick<Comparison, 'books' | 'rows' | 'settled'>,
): Promise<ReadonlySet<string>> {
  const { rows: known } = await sql<{ commission_id: string; has_amount: boolean; has_currency: boolean }>`
    select commission_id, is_money and spelled.difference ->> 4 is not null as has_amount,
           is_money and spelled.difference ->> 6 is not null as has_currency
    from books_differences,
      lateral (select difference::jsonb as difference) spelled,
      lateral (select spelled.difference ->> 1 = 'different_amount' as is_money) money
    where books = ${books} and reason is null`.execute(trx);
  const compared = new Map(rows.map((row) => [row.commission_id, row]));
  const over = new Set(settled);
  const staying = known.filter(({ commission_id, has_amount, has_currency }) => {
    const row = compared.get(commission_id);
    if (row === undefined) return !over.has(commission_id);
    const lacksAmount = row.books_amount === null || row.program_amount === null;
    const lacksCurrency = row.books_currency === null || row.program_currency === null;
    return (has_amount && lacksAmount) || (has_currency && lacksCurrency);
  });
  return new Set(staying.map(({ commission_id }) => commission_id));
}

/**
 * Accepts the noted differences of these commissions, in any books: they are no longer counted until they change.
 *
 * Throws: ConfigError with the commissions of which none is noted; then nothing is accepted.
 */
export async function acceptDifferences(
  db: Database,
  commissionIds: readonly string[],
  { reason, by }: { readonly reason: string; readonly by: string },
): Promise<void> {
  await transact(db, async (trx) => {
    const { rows } = await sql<{ commission_id: string }>`
      update books_differences
      set reason = ${reason}, accepted_by = ${by}, accepted_at = clock_timestamp()
      where commission_id = any(${commissionIds}::text[])
      returning commission_id`.execute(trx);
    const found = new Set(rows.map(({ commission_id }) => commission_id));
    const unknown = commissionIds.filter((id) => !found.has(id));
    if (unknown.length > 0) {
      throw new ConfigError(
        unknown.map(
          (id) => `no difference of the commission ${id} is noted: compare the books with --note first`,
        ),
      );
    }
    await countDiffering(trx);
  });
}

async function countDiffering(trx: DatabaseTransaction): Promise<void> {
  await sql`
    update books_comparisons comparison
    set differing = counted.differing,
        differ_since = case when counted.differing > 0 then coalesce(differ_since, clock_timestamp()) end
    from (
      select noted.books, count(difference) as differing
      from books_comparisons noted
      left join books_differences difference on difference.books = noted.books and difference.reason is null
      group by noted.books
    ) counted
    where counted.books = comparison.books`.execute(trx);
}
