// The lock by which a resource has one run at a time, whatever started it.

import type { Database } from '../db/database.ts';
import { nameSession } from '../db/name-session.ts';
import { findLockHolder, sessionLockKey, withSessionLock } from '../db/session-lock.ts';

export type RunLocked<T> =
  | { readonly isHeldByOther: false; readonly result: T }
  /** `holder` names the other process as Postgres knows it. */
  | { readonly isHeldByOther: true; readonly holder: string };

/**
 * Runs `work` while holding the mirror's lock on the resource, and returns its result; or, where another session
 * holds the lock, says which, without waiting.
 *
 * One connection is held for as long as the work takes. Should Postgres drop it (the process was stopped for long),
 * the lock is gone, though the work goes on: the run's attempt number then keeps it from committing anything once
 * another process has taken over.
 */
export async function withRunLock<T>(
  db: Database,
  resource: string,
  work: () => Promise<T>,
): Promise<RunLocked<T>> {
  const name = `run of ${resource} in`;
  const locked = await withSessionLock(db, { name, isPatient: false }, work);
  return locked.isHeldByOther ? { isHeldByOther: true, holder: await nameHolder(db, name) } : locked;
}

async function nameHolder(db: Database, name: string): Promise<string> {
  const holder = await findLockHolder(db, sessionLockKey(name));
  // The lock may have been released meanwhile.
  return holder === null ? 'another process, which has ended since' : nameSession(holder);
}
