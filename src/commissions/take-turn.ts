// The turn of whoever asks for commission updates: one transaction at a time, in all processes.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { LOCK_NOT_AVAILABLE } from '../db/sqlstate.ts';
import { errorCode } from '../describe-error.ts';
import { Busy } from '../errors.ts';

const LONGEST_TURN = '20s';

/**
 * Waits for the transaction's turn, which lasts until it ends. From its next statement on it sees every request that
 * was asked for before, and nobody asks for another one meanwhile.
 *
 * Throws: Busy where another transaction has the turn and does not end.
 */
export async function takeTurn(trx: DatabaseTransaction): Promise<void> {
  // Whoever has the turn waits no longer for anything else either.
  await sql`select set_config('lock_timeout', ${LONGEST_TURN}, true)`.execute(trx);
  // The trigger of commission_updates takes this lock too; taken in a statement of its own, what others asked for until
  // then is visible to the next one, and a process that was stopped in the middle of sending a statement loses it.
  await sql`select take_lock(
    hashtextextended('affiliate-mirror commission updates of ' || current_schema(), 0), true, ${LONGEST_TURN})`
    .execute(trx)
    .catch(refuseToWait);
}

function refuseToWait(error: unknown): never {
  if (errorCode(error) === LOCK_NOT_AVAILABLE) {
    throw new Busy(
      'another transaction has asked for commission updates and has not ended yet, so nothing was queued: commit it or roll it back, and try again',
      { cause: error },
    );
  }
  throw error;
}
