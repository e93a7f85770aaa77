// Notes what a comparison of the books with the program found, for those who did not see it end.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

export interface Comparison {
  /** A file of payments, or what was paid and is payable here. */
  readonly books: 'file' | 'payment_ledger';
  /** Commissions that were compared, and those of them that differ. */
  readonly compared: number;
  readonly differing: number;
}

/** Notes it in the place of the one before of the same books. Idempotent: yes. */
export async function noteComparison(
  db: Database,
  { books, compared, differing }: Comparison,
): Promise<void> {
  await sql`
    insert into books_comparisons as noted (books, compared, differing, differ_since)
    values (${books}, ${compared}, ${differing}, case when ${differing}::bigint > 0 then clock_timestamp() end)
    on conflict (books) do update set
      compared_at = excluded.compared_at, compared = excluded.compared, differing = excluded.differing,
      differ_since = case when excluded.differing > 0 then coalesce(noted.differ_since, excluded.differ_since) end
  `.execute(db);
}
