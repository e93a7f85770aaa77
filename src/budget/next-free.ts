// When the next request leaves the window, for a person who watches: whoever waits needs not know it.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

/** A look costs a statement, and whoever waits asks up to four times a second. */
const LOOK_EVERY_MS = 1_000;

/** Returns the function that returns in how many milliseconds that is; null where it is not known. */
export function makeReadNextFree(db: Database): () => Promise<number | null> {
  let last: { readonly atMs: number; readonly freeAtMs: number | null } | null = null;
  return async () => {
    if (last === null || performance.now() - last.atMs > LOOK_EVERY_MS) {
      // Requests in flight have no known end. Those of others end together: see foreign_until.
      const answer = await sql<{ free_in_ms: number | null }>`
        select (extract(epoch from least(
            (select min(expires_at) from request_permits where returned_at is not null and expires_at > moment),
            (select foreign_until from request_budget where foreign_until > moment and foreign_requests > 0)
          ) - moment) * 1000)::float8 as free_in_ms
        from clock_timestamp() as moment`.execute(db);
      const atMs = performance.now();
      const freeInMs = onlyRow(answer, 'request_permits').free_in_ms;
      last = { atMs, freeAtMs: freeInMs === null ? null : atMs + freeInMs };
    }
    return last.freeAtMs === null ? null : Math.max(0, last.freeAtMs - performance.now());
  };
}
