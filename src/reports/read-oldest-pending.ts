// For how long the oldest request for a commission update that is not carried out yet has waited.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

/** Returns the seconds since somebody asked for it; null where none is pending. */
export async function readOldestPendingSeconds(db: Database): Promise<number | null> {
  const answer = await sql<{ seconds: number | null }>`
    select extract(epoch from clock_timestamp() - min(requested_at))::float8 as seconds
    from commission_updates where state = 'pending'`.execute(db);
  return onlyRow(answer, 'the oldest pending request').seconds;
}
