// Sums are compared once after each sync, however often somebody asks.

import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { readRememberedList } from '../../src/reports/remembered-list.ts';
import { createTestDatabase } from '../support/database.ts';

test('between two syncs the answer is remembered, after one it is found anew', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  // What the answer says besides shows whether it was asked for again.
  const say = (problem: string) => pool.query('update optional_lists set problem = $1', [problem]);
  await say('first');
  expect(await Promise.all([readRememberedList(db), readRememberedList(db)])).toMatchObject([
    { problem: 'first' },
    { problem: 'first' },
  ]);
  await say('second');
  expect(await readRememberedList(db)).toMatchObject({ problem: 'first' });
  await pool.query(
    `insert into sync_runs (resource, mode, state, verified, finished_at)
     values ('affiliates', 'full', 'succeeded', true, now())`,
  );
  expect(await readRememberedList(db)).toMatchObject({ problem: 'second' });
});

test('a comparison that takes long after a sync keeps nobody waiting who asked a moment ago', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  await pool.query(`update optional_lists set problem = 'first'`);
  await readRememberedList(db);
  await pool.query(
    `insert into sync_runs (resource, mode, state, verified, finished_at)
     values ('affiliates', 'full', 'succeeded', true, now())`,
  );
  await pool.query(`update optional_lists set problem = 'second'`);
  // The comparison waits for this lock; whoever asks does not.
  const locking = await pool.connect();
  await locking.query('begin; lock table commissions');
  expect(await readRememberedList(db)).toMatchObject({ problem: 'first' });
  await locking.query('commit');
  locking.release();
  await expect.poll(async () => (await readRememberedList(db)).problem).toBe('second');
});

test('a run that began earlier and ends later than another one is compared, too', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  const say = (problem: string) => pool.query('update optional_lists set problem = $1', [problem]);
  await pool.query(
    `insert into sync_runs (resource, mode, state, verified, finished_at)
     values ('affiliates', 'full', 'running', false, null), ('referrals', 'full', 'succeeded', true, now())`,
  );
  await say('first');
  expect(await readRememberedList(db)).toMatchObject({ problem: 'first' });
  await say('second');
  await pool.query(
    `update sync_runs set state = 'succeeded', verified = true, finished_at = now() where finished_at is null`,
  );
  await expect.poll(async () => (await readRememberedList(db)).problem).toBe('second');
});

test('a comparison that failed is not remembered', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  await pool.query('alter view commission_coverage rename to gone');
  await expect(readRememberedList(db)).rejects.toThrow('commission_coverage');
  await pool.query('alter view gone rename to commission_coverage');
  expect(await readRememberedList(db)).toMatchObject({ problem: null });
});
