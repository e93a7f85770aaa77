// A lock that is held while work goes on, and taken from a process that was stopped.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { withSessionLock } from '../../src/db/session-lock.ts';
import { createTestDatabase } from '../support/database.ts';
import { untilFrozen } from '../support/freeze-self.ts';

const HOLDER = fileURLToPath(new URL('./lock-holder.ts', import.meta.url));
const database = await createTestDatabase();
const db = makeDatabase(database.pool);
const LOCK = { name: 'test of', isPatient: false };

async function startHolder() {
  const child = fork(HOLDER, [database.url], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child;
}

test('a lock that another process holds is not waited for, and is free when that ends', async () => {
  const child = await startHolder();
  expect(await withSessionLock(db, LOCK, async () => 'mine')).toEqual({ isHeldByOther: true });
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await expect
    .poll(() => withSessionLock(db, LOCK, async () => 'mine'))
    .toEqual({ isHeldByOther: false, result: 'mine' });
});

test('a lock is taken from a process that was stopped, and one that waits gets it', async () => {
  const child = await startHolder();
  child.kill('SIGSTOP');
  try {
    const locked = await withSessionLock(db, { ...LOCK, isPatient: true }, async () => 'mine');
    expect(locked).toEqual({ isHeldByOther: false, result: 'mine' });
  } finally {
    child.kill('SIGKILL');
  }
});

test('a lock is taken also from a process that was stopped the moment it had it', async () => {
  const child = fork(HOLDER, [database.url, 'stopped'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await untilFrozen(child.pid ?? 0);
    const locked = await withSessionLock(db, { ...LOCK, isPatient: true }, async () => 'mine');
    expect(locked).toEqual({ isHeldByOther: false, result: 'mine' });
  } finally {
    child.kill('SIGKILL');
  }
});

test('the connection that held it may be idle again for as long as it was before', async () => {
  await withSessionLock(db, LOCK, async () => {});
  const { rows } = await database.pool.query('show idle_session_timeout');
  expect(rows).toEqual([{ idle_session_timeout: '0' }]);
});
