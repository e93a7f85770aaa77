// Notes what a comparison of the books with the program found, for those who did not see it end.

import { sql } from 'kysely';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';

export interface Comparison {
  /** A file of payments, or what was paid and is payable here. */
  readonly books: 'file' | 'payment_ledger';
  /** Payments before this were left out; null where none were. */
  readonly since: Timestamp | null;
  /** Commissions that were compared, and those of them that differ. */
  readonly compared: number;
  readonly differing: number;
}

/**
 * Notes it in the place of the one before of the same books; but one that left out more says nothing of what that one
 * found to differ, and is not noted while that is open. Idempotent: yes.
 */
export async function noteComparison(
  db: Database,
  { books, since, compared, differing }: Comparison,
): Promise<void> {
  await sql`
    insert into books_comparisons as noted (books, since, compared, differing, differ_since)
    values (${books}, ${since}, ${compared}, ${differing}, case when ${differing}::bigint > 0 then clock_timestamp() end)
    on conflict (books) do update set
      since = excluded.since, compared_at = excluded.compared_at, compared = excluded.compared, differing = excluded.differing,
      differ_since = case when excluded.differing > 0 then coalesce(noted.differ_since, excluded.differ_since) end
    where noted.differing = 0 or excluded.since is null or excluded.since <= noted.since
  `.execute(db);
}
