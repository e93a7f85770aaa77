// Claims that end further ahead than any can: they were made before the database's clock was put back. Left alone, the
// requests of a writer that was killed would be "being applied now" until the old time.

import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { isOfTheRow } from '../../db/refusal.ts';
import { LONGEST_BACKOFF_MS } from './try-cost.ts';

/** In SQL: nothing waits beyond this, and no claim holds. */
export const FARTHEST_AHEAD = sql`clock_timestamp() + make_interval(secs => ${LONGEST_BACKOFF_MS / 1000})`;

/** A condition on commission_updates as `request`. */
export const IS_CLAIMED_AHEAD = sql`request.state = 'pending' and request.claimed_until > ${FARTHEST_AHEAD}`;

/**
 * Lets each of them hold for `claimMs` from now. It is shortened, not taken away: its writer may be alive, and then
 * extends it. Idempotent: yes.
 *
 * Throws: the database's errors, but for refusals of single rows.
 */
export async function shortenClaims(db: Database, claimMs: number): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id from commission_updates request where ${IS_CLAIMED_AHEAD} order by id
  `.execute(db);
  for (const { id } of rows) {
    await sql`
      update commission_updates request
      set claimed_until = clock_timestamp() + make_interval(secs => ${claimMs / 1000})
      where id = ${id} and ${IS_CLAIMED_AHEAD}
    `
      .execute(db)
      .catch((error: unknown) => {
        if (!isOfTheRow(error)) throw error;
      });
  }
}
