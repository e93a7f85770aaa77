// The turn of whoever asks for commission updates: one transaction at a time, in all processes.

import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { nameSession } from '../../db/name-session.ts';
import { onlyRow } from '../../db/only-row.ts';
import { findLockHolder } from '../../db/session-lock.ts';
import { LOCK_NOT_AVAILABLE } from '../../db/sqlstate.ts';
import { errorCode } from '../../describe-error.ts';
import { Busy } from '../../errors.ts';

const LONGEST_TURN = '20s';

/**
 * Waits for the transaction's turn, which lasts until it ends. From its next statement on it sees every request that
 * was asked for before, and nobody asks for another one meanwhile. Aborted, the wait is cancelled through the pool.
 *
 * Throws: Busy where another transaction has the turn and does not end; the signal's reason when aborted.
 */
export async function takeTurn(
  db: Database,
  trx: DatabaseTransaction,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  // Whoever has the turn waits no longer for anything else either.
  const answer = await sql<{ pid: number }>`
    select pg_backend_pid() as pid, set_config('lock_timeout', ${LONGEST_TURN}, true)`.execute(trx);
  const { pid } = onlyRow(answer, 'pg_backend_pid');
  const cancel = () => {
    // Where that fails, the wait ends by itself.
    sql`select pg_cancel_backend(${pid})`.execute(db).catch(() => undefined);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    await waitForTurn(db, trx);
  } finally {
    signal?.removeEventListener('abort', cancel);
    signal?.throwIfAborted();
  }
}

/** In SQL, the lock that the trigger of commission_updates takes too. */
const TURN = sql`hashtextextended('affiliate-mirror commission updates of ' || current_schema(), 0)`;

// Taken in a statement of its own, so that what others asked for until then is visible to the next one.
async function waitForTurn(db: Database, trx: DatabaseTransaction): Promise<void> {
  try {
    await sql`select pg_advisory_xact_lock(${TURN})`.execute(trx);
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
    throw new Busy(await describeHolder(db));
  }
}

/** Returns whose transaction has the turn, or had it until a moment ago, and what to do. */
async function describeHolder(db: Database): Promise<string> {
  const holder = await findLockHolder(db, TURN);
  if (holder?.application.startsWith('affiliate-mirror ') === true) {
    return `nothing was queued: ${nameSession(holder)} is asking for many commission updates: try again once it is done`;
  }
  const whose = holder === null ? 'another transaction' : `the transaction of ${nameSession(holder)}`;
  return `nothing was queued: ${whose} has asked for commission updates and has not ended yet: commit it or roll it back, and try again`;
}
