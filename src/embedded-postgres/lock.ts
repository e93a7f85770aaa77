// Locks of several processes on one file.
// SQLite is used only for its portable file locks: the kernel releases them when the holder ends, also if it is killed.
// A file with a pid was rejected: two processes that find it stale can each remove the other's new one, and pids are
// reused.

import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

export interface FileLock {
  /** Idempotent: yes. */
  release(): void;
}

/** Any number of holders of `shared`, or one of `exclusive`. */
export type LockKind = 'shared' | 'exclusive';

const SQLITE_BUSY = 5;
const POLL_MS = 25;

// The garbage collector would close a connection without a reference, and release its lock.
const held = new Set<DatabaseSync>();

/**
 * Returns the lock, or null if another process, or another part of this one, holds it.
 *
 * Throws: SQLite's error if the file cannot be made or opened.
 */
export function tryLock(path: string, kind: LockKind): FileLock | null {
  const connection = new DatabaseSync(path, { timeout: 0 });
  try {
    connection.exec(kind === 'exclusive' ? 'begin exclusive' : 'begin; select * from sqlite_schema');
  } catch (error) {
    connection.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  held.add(connection);
  return {
    release() {
      if (held.delete(connection)) connection.close();
    },
  };
}

/** Returns the exclusive lock once it is free, or null if that took longer than `waitMs`. */
export async function waitForLock(path: string, waitMs: number): Promise<FileLock | null> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const lock = tryLock(path, 'exclusive');
    if (lock !== null || performance.now() >= deadline) return lock;
    await delay(POLL_MS);
  }
}
