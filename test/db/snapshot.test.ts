// Reading more than fits into memory, as it was at one moment.

import { expect, test } from 'vitest';
import { withClientUntil } from '../../src/db/client-until.ts';
import { PausedTooLong, withSnapshot } from '../../src/db/snapshot.ts';
import { createTestDatabase } from '../support/database.ts';

const { pool } = await createTestDatabase();
await pool.query('create table counted (n int)');
const NEVER = { signal: new AbortController().signal, longestPauseMs: 60_000 };

test('what is changed between two reads is in neither', async () => {
  const counts = await withSnapshot(pool, NEVER, async (client) => {
    const count = async () => (await client.query('select from counted')).rowCount;
    const before = await count();
    await pool.query('insert into counted values (1)');
    return [before, await count()];
  });
  expect(counts).toEqual([0, 0]);
});

test('nothing can be written', async () => {
  const writing = withSnapshot(pool, NEVER, (client) => client.query('insert into counted values (2)'));
  await expect(writing).rejects.toMatchObject({ code: '25006' });
});

test('aborted, the statement that is under way fails, and the reason is thrown once the work has ended', async () => {
  const aborting = new AbortController();
  let hasCleanedUp = false;
  const reading = withSnapshot(pool, { ...NEVER, signal: aborting.signal }, async (client) => {
    setTimeout(() => aborting.abort(new Error('enough')), 50);
    await client.query('select pg_sleep(60)').finally(() => {
      hasCleanedUp = true;
    });
  });
  await expect(reading).rejects.toThrow('enough');
  expect(hasCleanedUp).toBe(true);
});

test('aborted while it connects, nothing is done, and the connection goes back', async () => {
  const aborting = new AbortController();
  let hasBegun = false;
  const doing = withClientUntil(pool, aborting.signal, async () => {
    hasBegun = true;
  });
  aborting.abort(new Error('enough'));
  await expect(doing).rejects.toThrow('enough');
  expect({ hasBegun, lent: pool.totalCount - pool.idleCount }).toEqual({ hasBegun: false, lent: 0 });
});

test('a pause that is too long is named as such, and not as a Postgres that is away', async () => {
  const reading = withSnapshot(pool, { ...NEVER, longestPauseMs: 50 }, async (client) => {
    await new Promise<void>((ended) => client.on('end', () => ended()));
    await client.query('select from counted');
  });
  await expect(reading).rejects.toThrow(PausedTooLong);
});

test('a connection that is lost is no pause that was too long', async () => {
  const reading = withSnapshot(pool, NEVER, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await client.query('select from counted');
  });
  await expect(reading).rejects.not.toThrow(PausedTooLong);
});
