// Transactions: one that is repeated if Postgres rolled it back because of a concurrent one, and one that only reads.

import { errorCode } from '../base/describe-error.ts';
import { DatabaseUnreachable } from '../base/errors.ts';
import type { Database, DatabaseTransaction } from './database.ts';
import { asDatabaseError, UNIQUE_VIOLATION } from './database-errors.ts';

/** A second try for a process that was stopped in the middle, a third for a deadlock. */
const MOST_TRIES = 3;

/**
 * SQLSTATEs of a transaction that is certainly rolled back, and may succeed if it is repeated: serialization failure,
 * deadlock, idle in transaction, and an existing key (a user inserted it meanwhile, or a first load did not compare).
 */
const ROLLED_BACK = new Set(['40001', '40P01', '25P03', UNIQUE_VIOLATION]);

/**
 * Runs `work` in a transaction, commits it, and returns its result. Repeats `work` if the transaction was rolled back
 * because of a concurrent one, or because this process was stopped in the middle (then the server closes the
 * connection, so that no other waits for its locks). If the connection is lost during the commit, `work` is not
 * repeated, because the transaction may be committed. `onCommit` is called before each commit, and the function that it
 * returns after it.
 *
 * Throws: the errors of `work`; the database's errors.
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

/** Returns what `read` reads, all of it as of one moment. Throws: the errors of `read`; the database's errors. */
export async function readTogether<T>(
  db: Database,
  read: (trx: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  const begun = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return await begun.execute(read);
}

function isLost(error: unknown): boolean {
  return asDatabaseError(error) instanceof DatabaseUnreachable;
}
