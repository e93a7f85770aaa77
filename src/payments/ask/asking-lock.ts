// The lock for asking for commission updates: one transaction at a time, in all processes.

import { sql } from 'kysely';
import { errorCode } from '../../base/describe-error.ts';
import { Busy } from '../../base/errors.ts';
import type { DatabaseTransaction } from '../../db/database.ts';
import { LOCK_NOT_AVAILABLE } from '../../db/database-errors.ts';

const LONGEST_WAIT = '20s';

/**
 * Takes the lock for the transaction, until that ends. Its next statement sees every request that was asked for before,
 * and no other is asked for meanwhile. The trigger of commission_updates takes this lock too.
 *
 * Throws: Busy if another transaction has the lock and does not end; the signal's reason if it was aborted by then.
 */
export async function lockAsking(trx: DatabaseTransaction, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  // The limit holds for every later lock of the transaction as well, so that it keeps this one no longer.
  await sql`select set_config('lock_timeout', ${LONGEST_WAIT}, true)`.execute(trx);
  try {
    // In a statement of its own, so that the next one sees the requests of other transactions.
    await sql`select pg_advisory_xact_lock(request_turn())`.execute(trx);
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
    throw new Busy(
      'nothing was queued: another transaction has asked for commission updates and has not ended: wait for it, commit it or roll it back, and try again',
    );
  }
  signal?.throwIfAborted();
}
