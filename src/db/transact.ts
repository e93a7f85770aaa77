// A transaction that is repeated where Postgres rolled it back because of other work beside it.

import { errorCode } from '../describe-error.ts';
import { DatabaseUnreachable } from '../errors.ts';
import { asDatabaseError } from './as-database-error.ts';
import type { Database, DatabaseTransaction } from './database.ts';
import { UNIQUE_VIOLATION } from './sqlstate.ts';

/** Once for a process that was stopped in the middle, once more for one that met a deadlock besides. */
const MOST_TRIES = 3;

/**
 * SQLSTATEs of a transaction that is certainly rolled back, and may succeed if done again: serialization failure,
 * deadlock, idle in transaction, and a key that is there already (another session inserted it meanwhile, as small loads
 * beside each other do, or a first load did not look). So may one whose
 * records were read before a person was forgotten, where it reads them anew (the code of our own error).
 */
const ROLLED_BACK = new Set(['40001', '40P01', '25P03', UNIQUE_VIOLATION]);

/**
 * Returns what `work` returns, committed. `work` runs again from its beginning where the transaction was rolled back
 * because of other work beside it, or because this process was stopped in the middle of it (then the server closes the
 * connection, so that nobody waits for its locks). Where the connection is lost during the commit, it does not run
 * again: the transaction may have been committed. `onCommit` is called before each commit, and what it returns after
 * it.
 *
 * Throws: what `work` throws; the database's errors.
 */
export async function transact<T>(
  db: Database,
  work: (trx: DatabaseTransaction) => Promise<T>,
  onCommit: () => () => void = () => () => {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let isDone = false;
    let committed = () => {};
    try {
      return await db.transaction().execute(async (trx) => {
        const result = await work(trx);
        isDone = true;
        committed = onCommit();
        return result;
      });
    } catch (error) {
      const isRolledBack = ROLLED_BACK.has(errorCode(error)) || (!isDone && isLost(error));
      if (attempt >= MOST_TRIES || !isRolledBack) throw error;
    } finally {
      committed();
    }
  }
}

function isLost(error: unknown): boolean {
  return asDatabaseError(error) instanceof DatabaseUnreachable;
}
