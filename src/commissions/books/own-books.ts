// Books without a file: what the payment ledger has as paid, and what the mirror has as unpaid and due.

import { sql } from 'kysely';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import type { BooksEntry } from '../files/books-file.ts';
import type { ReconciledRow } from './reconcile-books.ts';

/**
 * Returns one entry for each commission that was paid through the payment ledger and not taken back since, as it was
 * paid; then for each other one that is due (the view unpaid_commissions), as unpaid: also where its payment failed,
 * since it may have arrived. Those for which a request waits are on their way, and left out; and so is what was paid
 * before `since`.
 */
export async function readOwnBooks(
  db: Database,
  { since }: { since: Timestamp | null },
): Promise<BooksEntry[]> {
  const { rows } = await sql<BooksEntry>`
    with last as (
      select distinct on (commission_id) *
      from commission_updates
      where action in ('pay', 'unpay') and state in ('pending', 'applied', 'unchanged')
      order by commission_id, id desc
    )
    select null as line, commission_id, paid_at,
           (coalesce(after, before) ->> 'amount')::bigint as amount,
           upper((coalesce(after, before) ->> 'currency') collate "C") as currency
    from last
    where action = 'pay' and state <> 'pending' and (${since}::timestamptz is null or paid_at >= ${since})
    union all
    select null, commission_id, null, amount, currency from unpaid_commissions
    where is_due and commission_id not in (select commission_id from last where action = 'pay' or state = 'pending')
    order by paid_at, commission_id
  `.execute(db);
  return rows;
}

/**
 * Returns the rows of a comparison with these books, each that differs as of now where its entry is another one by now:
 * what was paid or taken back through here while the program was read is no difference. Without those that the books
 * no longer have, such as one for which a request waits. `compare` compares entries with the program.
 */
export async function compareChanged(
  db: Database,
  rows: readonly ReconciledRow[],
  { since }: { since: Timestamp | null },
  compare: (books: readonly BooksEntry[]) => Promise<readonly ReconciledRow[]>,
): Promise<readonly ReconciledRow[]> {
  const differing = rows.filter(({ finding }) => finding !== 'match');
  if (differing.length === 0) return rows;
  const entries = new Map((await readOwnBooks(db, { since })).map((entry) => [entry.commission_id, entry]));
  const changed = differing.filter((row) => !isOfEntry(row, entries.get(row.commission_id)));
  const books = changed.flatMap(({ commission_id }) => entries.get(commission_id) ?? []);
  const anew = books.length === 0 ? [] : await compare(books);
  const compared = Map.groupBy(anew, ({ commission_id }) => commission_id);
  const isChanged = new Set(changed);
  return rows.flatMap((row) => (isChanged.has(row) ? (compared.get(row.commission_id) ?? []) : [row]));
}

function isOfEntry(row: ReconciledRow, entry: BooksEntry | undefined): boolean {
  return (
    entry?.paid_at === row.books_paid_at &&
    entry.amount === row.books_amount &&
    entry.currency === row.books_currency
  );
}
