// The sandbox's tables over time: they survive a restart, are never taken for another program's, and two starts at
// once do not spoil them.

import { expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();

it('what was written survives a restart', async () => {
  const before = await runSandbox(pool, { schema: 'restarted' });
  expect(before.isSeeded).toBe(true);
  const { id } = await before.program.insertReferral({ conversion_state: 'conversion' });
  const { commission } = await before.program.insertSale(id);
  await before.put(commission.id, 'paid_at=2026-05-04T00:00:00Z');
  const list = await before.referrals();
  await before.close();

  const after = await runSandbox(pool, { schema: 'restarted' });
  expect(after.isSeeded).toBe(false);
  expect((await after.commission(commission.id)).paid_at).toBe('2026-05-04T00:00:00.000Z');
  expect(await after.referrals()).toEqual(list);
  expect(list.pagination.total_count).toBe(801);
  // The next id invented is a new one, although the seed is the same.
  await expect(after.program.insertReferral()).resolves.toBeDefined();
  await after.close();
});

it.each([{ seed: 8 }, { affiliates: 61 }, { referrals: 801 }, { spelling: 'live' as const }])(
  'a schema that holds another program is refused, saying what it holds and what to do: %o',
  async (different) => {
    await (await runSandbox(pool, { schema: 'held' })).close();
    const start = runSandbox(pool, { schema: 'held', ...different });
    await expect(start).rejects.toThrow(ConfigError);
    await expect(start).rejects.toThrow(
      /^schema held already holds a program with seed 7, 60 affiliates and 800 referrals in the spelling neutral, not seed .*--reset/,
    );
    const { rows } = await pool.query('select count(*)::integer as count from held.referrals');
    expect(rows[0].count).toBe(800);
  },
);

it('--reset starts anew and leaves alone what is not the sandbox’s', async () => {
  await (await runSandbox(pool, { schema: 'renewed' })).close();
  await pool.query('create table renewed.notes (note text)');
  const sandbox = await runSandbox(pool, {
    schema: 'renewed',
    seed: 9,
    affiliates: 3,
    referrals: 5,
    reset: true,
  });
  expect((await sandbox.referrals()).pagination.total_count).toBe(5);
  await sandbox.close();
  const { rows } = await pool.query('select count(*)::integer as count from renewed.notes');
  expect(rows).toEqual([{ count: 0 }]);
});

it('a schema with tables of the same names is refused even with --reset: the mirror would be lost', async () => {
  const start = runSandbox(pool, { schema: 'mirror', reset: true });
  await expect(start).rejects.toThrow(ConfigError);
  await expect(start).rejects.toThrow(/schema mirror holds tables that are not the sandbox's/);
  const { rows } = await pool.query('select count(*)::integer as count from mirror.referrals');
  expect(rows).toEqual([{ count: 0 }]);
});

it('two starts at once on one schema seed it once and both serve it', async () => {
  const both = await Promise.all([
    runSandbox(pool, { schema: 'shared' }),
    runSandbox(pool, { schema: 'shared' }),
  ]);
  expect(both.map(({ isSeeded }) => isSeeded).sort()).toEqual([false, true]);
  const [a, b] = await Promise.all(both.map((sandbox) => sandbox.get('/v1/referrals')));
  expect(a).toEqual(b);
  await Promise.all(both.map((sandbox) => sandbox.close()));
});
