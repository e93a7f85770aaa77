// Ticks, on both queues: each is acted upon once, whoever sees it, and none is lost.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TICK } from '../../src/jobs/schedules.ts';
import { startWorker } from '../../src/jobs/start-worker.ts';
import { makeLogger } from '../../src/log.ts';
import type { TestSandbox } from '../sandbox/running-sandbox.ts';
import { countEvery, FAST, KINDS, makeProgram, makeQueueing, type Queueing } from './queueing.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

afterAll(() => sandbox.close());

async function counted({ pool }: Queueing): Promise<{ key: string; second: string; pid: number }[]> {
  const { rows } = await pool.query(
    `select key, date_trunc('second', wanted_at) as second, pid from counted order by key, second`,
  );
  return rows;
}

async function waitForCounts(queueing: Queueing, least: number): Promise<void> {
  await expect
    .poll(() => counted(queueing).then((rows) => rows.length), { interval: 50 })
    .toBeGreaterThanOrEqual(least);
}

describe.each(KINDS)('schedules on %s', (kind) => {
  test('each tick runs once with two workers, and both take work', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const schedules = ['a', 'b', 'c', 'd'].map((name) => countEvery(name, '*/2 * * * * *'));
    const workers = await Promise.all([queueing.start({ schedules }), queueing.start({ schedules })]);
    await waitForCounts(queueing, 16);
    for (const worker of workers) expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });

    const rows = await counted(queueing);
    expect(new Set(rows.map(({ key, second }) => `${key} ${second}`)).size).toBe(rows.length);
    for (const name of ['a', 'b', 'c', 'd']) {
      const seconds = rows.filter(({ key }) => key === name).map(({ second }) => Date.parse(second) / 1000);
      expect(seconds).toEqual(seconds.map((_, index) => (seconds[0] ?? 0) + index * 2));
    }
    expect(new Set(rows.map(({ pid }) => pid)).size).toBe(2);
  });

  test('a tick that was missed while no worker ran is made up for once on start', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const { pool } = queueing;
    const daily = [countEvery('daily', '0 3 * * *')];
    await (await queueing.start({ schedules: daily })).end('SIGTERM');
    expect(await counted(queueing)).toEqual([]);
    // Three days without a worker.
    await pool.query(`update schedules set next_at = next_at - interval '3 days'`);
    const back = await queueing.start({ schedules: daily });
    await waitForCounts(queueing, 1);
    await back.end('SIGTERM');
    await (await queueing.start({ schedules: daily })).end('SIGTERM');
    expect(await counted(queueing)).toHaveLength(1);
  });

  test('a tick that BullMQ delivers again is acted upon once', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const worker = await queueing.start({ schedules: [countEvery('daily', '0 3 * * *')] });
    const backend = await queueing.open();
    const deliver = async (dueMs: number) => {
      const job = await backend.queue.add(TICK, { schedule: 'daily' }, { prevMillis: dueMs });
      await expect.poll(() => job.getState()).toBe('completed');
    };
    const dueMs = Date.parse('2026-01-01T03:00:00Z');
    await deliver(dueMs);
    await waitForCounts(queueing, 1);
    await expect
      .poll(() => queueing.pool.query('select from wanted_jobs').then(({ rows }) => rows.length))
      .toBe(0);
    for (const late of [0, 86_400_000]) await deliver(dueMs - late);
    expect((await queueing.pool.query('select from wanted_jobs')).rows).toEqual([]);
    expect(await counted(queueing)).toHaveLength(1);
    await backend.close();
    await worker.end('SIGTERM');
  });

  test('a schedule that the catalogue no longer names is gone, and one that changed ticks as it now says', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const before = [countEvery('old', '0 3 * * *'), countEvery('changed', '0 4 * * *')];
    await (await queueing.start({ schedules: before })).end('SIGTERM');
    const worker = await queueing.start({ schedules: [countEvery('changed', '*/2 * * * * *')] });
    await waitForCounts(queueing, 1);
    const backend = await queueing.open();
    const schedulers = await backend.queue.getJobSchedulers();
    await backend.close();
    await worker.end('SIGTERM');
    expect(schedulers.map(({ key, pattern }) => [key, pattern])).toEqual([['changed', '*/2 * * * * *']]);
    const { rows } = await queueing.pool.query('select name from schedules');
    expect(rows).toEqual([{ name: 'changed' }]);
  });

  test('workers that start all at once leave one waiting tick per schedule, and chains that move', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const { db, pool, settings } = queueing;
    const schedules = ['a', 'b', 'c'].map((name) => countEvery(name, '0 3 * * *'));
    const log = makeLogger('fatal');
    const kinds = { count: { attempts: 1, isNews: () => false, next: () => [] } };
    const workers = await Promise.all(
      Array.from({ length: 4 }, () =>
        startWorker(
          { db, pool, log, handlers: {}, probe: async () => {} },
          { queue: settings, kinds, schedules, timings: FAST },
        ),
      ),
    );
    const backend = await queueing.open();
    const { delayed } = await backend.queue.getJobCounts('delayed');
    await backend.close();
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(delayed).toBe(3);
  });

  test('a chain that died is revived, and its tick is made up for', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const worker = await queueing.start({ schedules: [countEvery('a', '*/2 * * * * *')] });
    await waitForCounts(queueing, 1);
    const backend = await queueing.open();
    await backend.queue.removeJobScheduler('a');
    await worker.says('schedule.revived');
    const soFar = (await counted(queueing)).length;
    await waitForCounts(queueing, soFar + 2);
    await backend.close();
    await worker.end('SIGTERM');
  });
});
