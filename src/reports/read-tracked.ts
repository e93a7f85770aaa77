// Counts of the known commissions, which are asked for one by one.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';

export interface TrackedStatus {
  /** Those that are still asked for. */
  readonly tracked: number;
  /** Their next poll is due, and no worker has asked yet; none is where the program lists its commissions. */
  readonly due: number;
  /** The last request for them was not answered. */
  readonly unanswered: number;
  /** The program no longer has them. */
  readonly gone: number;
  readonly next_poll_at: Timestamp | null;
}

/** Returns the counts at this moment. */
export async function readTracked(db: Database): Promise<TrackedStatus> {
  const answer = await sql<TrackedStatus>`
    select tracked, due_polls as due, unanswered, gone, next_poll_at from commission_coverage
  `.execute(db);
  return onlyRow(answer, 'commission_coverage');
}
