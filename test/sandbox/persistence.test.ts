// The sandbox's tables over time: they survive a restart, are never taken for another program's, and two starts at
// once do not spoil them.

import type pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { Busy, ConfigError } from '../../src/errors.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox } from './running-sandbox.ts';

let pool: pg.Pool;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
});

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

it('a total is right after a change made by another process', async () => {
  const both = await Promise.all([
    runSandbox(pool, { schema: 'shared' }),
    runSandbox(pool, { schema: 'shared' }),
  ]);
  const totals = () => Promise.all(both.map(async (one) => (await one.referrals()).pagination.total_count));
  expect(await totals()).toEqual([800, 800]);
  await pool.query('delete from shared.referrals where id in (select id from shared.referrals limit 7)');
  expect(await totals()).toEqual([793, 793]);
  await Promise.all(both.map((sandbox) => sandbox.close()));
});

it('two programs can be in one database', async () => {
  const one = await runSandbox(pool, { schema: 'left' });
  const other = await runSandbox(pool, { schema: 'Right "quoted"', seed: 3 });
  expect((await one.referrals()).data[0]?.id).not.toBe((await other.referrals()).data[0]?.id);
  await Promise.all([one.close(), other.close()]);
});

it('a port that is taken is reported plainly', async () => {
  const sandbox = await runSandbox(pool, { schema: 'left' });
  const start = runSandbox(pool, { schema: 'left', port: sandbox.port });
  await expect(start).rejects.toThrow(Busy);
  await expect(start).rejects.toThrow(`port ${sandbox.port} is taken`);
  await sandbox.close();
});

it('a start whose port is taken leaves the program as it is, even with --reset', async () => {
  const sandbox = await runSandbox(pool, { schema: 'served' });
  const list = await sandbox.referrals();
  const start = runSandbox(pool, { schema: 'served', port: sandbox.port, seed: 9, reset: true });
  await expect(start).rejects.toThrow(Busy);
  expect(await sandbox.referrals()).toEqual(list);
  await sandbox.close();
});

it('a request that comes while the program is being made up is answered once it is there', async () => {
  const first = await runSandbox(pool, { schema: 'left' });
  await first.close();
  const start = runSandbox(pool, { schema: 'awaited', port: first.port });
  const answer = () => first.send('GET', '/v1/referrals').catch(() => null);
  await expect.poll(answer).toMatchObject({ status: 200 });
  await (await start).close();
});

it('a start that is refused lets go of its port', async () => {
  const { port, close } = await runSandbox(pool, { schema: 'left' });
  await close();
  await expect(runSandbox(pool, { schema: 'left', port, seed: 8 })).rejects.toThrow(ConfigError);
  await (await runSandbox(pool, { schema: 'left', port })).close();
});

it('wrong options are refused all at once', async () => {
  const start = runSandbox(pool, { schema: 'left', seed: -1, affiliates: 0, referrals: 5, secret: '' });
  await expect(start).rejects.toThrow(ConfigError);
  await expect(start).rejects.toThrow(/--seed[\s\S]*--referrals needs[\s\S]*secret/);
});
