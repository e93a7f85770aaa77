// A lock that is held while work goes on, and taken from a process that was stopped.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listen, withLock } from '../../../src/db/locks/process-session.ts';
import { createTestDatabase } from '../../support/database.ts';
import { untilFrozen } from '../../support/freeze-self.ts';

const HOLDER = fileURLToPath(new URL('./lock-holder.ts', import.meta.url));
const database = await createTestDatabase();
const { db } = database;
const NAME = 'test of';

/** Resolves once the lock could be taken. */
async function untilMine(): Promise<void> {
  await expect
    .poll(() => withLock(db, NAME, async () => 'mine'), { timeout: 30_000, interval: 200 })
    .toEqual({ isHeldByOther: false, result: 'mine' });
}

async function startHolder() {
  const child = fork(HOLDER, [database.url], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child;
}

test('a lock that another process holds is not waited for, and is free when that ends', async () => {
  const child = await startHolder();
  const holder = expect.stringMatching(/^holder \(pid \d+, role \w+\)$/);
  expect(await withLock(db, NAME, async () => 'mine')).toEqual({ isHeldByOther: true, holder });
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await untilMine();
});

test('a lock is taken from a process that was stopped', async () => {
  const child = await startHolder();
  child.kill('SIGSTOP');
  try {
    await untilMine();
  } finally {
    child.kill('SIGKILL');
  }
});

test('a lock is taken also from a process that was stopped the moment it had it', async () => {
  const child = fork(HOLDER, [database.url, 'stopped'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await untilFrozen(child.pid ?? 0);
    await untilMine();
  } finally {
    child.kill('SIGKILL');
  }
});

test('of two jobs of this process, one has the lock, also after its session was lost', async () => {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const first = withLock(db, NAME, () => over);
  const isHeld = () => withLock(db, NAME, async () => {}).then(({ isHeldByOther }) => isHeldByOther);
  try {
    await expect.poll(isHeld).toBe(true);
    const { rowCount } = await database.pool.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 1
         and database = (select oid from pg_database where datname = current_database())`,
    );
    expect(rowCount).toBe(1);
    expect(await isHeld()).toBe(true);
    // Another lock is taken on a new session.
    const another = () => withLock(db, 'another', async () => 'mine').catch((error: unknown) => error);
    await expect.poll(another).toEqual({ isHeldByOther: false, result: 'mine' });
  } finally {
    resolve();
    await first;
  }
  expect(await isHeld()).toBe(false);
});

test('locks that are held together and a listener need one connection, and leave it as it was', async () => {
  const over = new AbortController();
  let isOpen = false;
  const onNotified = () => {
    isOpen = true;
  };
  const listening = listen(db, { channel: 'work_is_there', payload: 'mirror', onNotified }, over.signal);
  await expect.poll(() => isOpen).toBe(true);
  await withLock(db, 'one', () =>
    withLock(db, 'two', async () => {
      expect(database.pool.shared.busy.size).toBe(1);
    }),
  );
  over.abort();
  await listening;
  expect(database.pool.shared.busy.size).toBe(0);
  const { rows } = await database.pool.query('show idle_session_timeout');
  expect(rows).toEqual([{ idle_session_timeout: '0' }]);
  expect((await database.pool.query('select pg_listening_channels()')).rows).toEqual([]);
});
