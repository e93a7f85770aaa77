// Reading more than fits into memory, as it was at one moment.

import { expect, test } from 'vitest';
import { withClientUntil } from '../../src/db/connect/client-until.ts';
import { withSnapshot } from '../../src/exports/snapshot.ts';
import { createTestDatabase } from '../support/database.ts';

const { pool } = await createTestDatabase();
await pool.query('create table counted (n int)');
const NEVER = new AbortController().signal;

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
  const reading = withSnapshot(pool, aborting.signal, async (client) => {
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
  expect({ hasBegun, lent: pool.shared.busy.size }).toEqual({ hasBegun: false, lent: 0 });
});
