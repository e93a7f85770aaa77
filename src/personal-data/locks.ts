// The locks under which the mirror is rewritten, in the order in which everybody else takes them: a writer of payments
// holds its request before it waits for the right to load.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { lockForLoading } from '../mirror/load-batch.ts';

/** Waits until nothing is loaded and no payment is noted, and keeps it so until the transaction ends. */
export async function lockForRewriting(trx: DatabaseTransaction): Promise<void> {
  await sql`lock table commission_updates in share row exclusive mode`.execute(trx);
  await lockForLoading(trx, { isAlone: true, runId: null });
}
