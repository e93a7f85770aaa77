// What the last comparisons of the books with the program found (`commissions reconcile`).

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

export interface BooksStatus {
  /** When books of any kind were last compared; null where they never were. */
  readonly compared_at: Timestamp | null;
  /** Commissions that differed, in the last comparison of each kind of books. */
  readonly differing: number;
  /** When the first comparison ended that found some, with none that found none after it. */
  readonly differ_since: Timestamp | null;
  /** Which books differ; the file, where both do. */
  readonly differ_in: 'file' | 'payment_ledger' | null;
}

/** Returns what is known at this moment. */
export async function readBooks(db: Database): Promise<BooksStatus> {
  const answer = await sql<BooksStatus>`
    select max(compared_at) as compared_at, coalesce(sum(differing), 0)::bigint as differing,
      min(differ_since) as differ_since, min(books) filter (where differing > 0) as differ_in
    from books_comparisons`.execute(db);
  return onlyRow(answer, 'books_comparisons');
}
