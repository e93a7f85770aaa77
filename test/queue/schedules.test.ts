// Ticks, on both queues: each is acted upon once, whoever sees it, and none is lost.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeLogger } from '../../src/log.ts';
import { TICK } from '../../src/queue/schedules.ts';
import { startWorker } from '../../src/queue/start-worker.ts';
import type { TestSandbox } from '../sandbox/running-sandbox.ts';
import {
  countEvery,
  DAILY,
  EVERY_SECOND,
  FAST,
  KINDS,
  makeProgram,
  makeQueueing,
  type Queueing,
} from './queueing.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

afterAll(() => sandbox.close());

async function counted({ pool }: Queueing): Promise<{ key: string; pid: number }[]> {
  const { rows } = await pool.query('select key, pid from counted order by key');
  return rows;
}

/** Has the database write down every tick that is acted upon. */
async function recordTicks({ pool }: Queueing): Promise<void> {
  await pool.query(`
    create table ticks (name text, due timestamptz);
    create function record_tick() returns trigger language plpgsql as $$
    begin
      insert into ticks values (new.name, new.last_tick_at);
      return null;
    end $$;
    create trigger record_tick after update of last_tick_at on schedules
      for each row execute function record_tick();`);
}

async function waitForCounts(queueing: Queueing, least: number): Promise<void> {
  await expect
    .poll(() => counted(queueing).then((rows) => rows.length), { interval: 50 })
    .toBeGreaterThanOrEqual(least);
}

describe.each(KINDS)('schedules on %s', (kind) => {
  test('each tick runs once with two workers, and both take work', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    await recordTicks(queueing);
    const names = ['a', 'b', 'c', 'd'];
    const schedules = names.map((name) => countEvery(name, EVERY_SECOND));
    const workers = await Promise.all([queueing.start({ schedules }), queueing.start({ schedules })]);
    await waitForCounts(queueing, 12);
    const workersSeen = async () => new Set((await counted(queueing)).map(({ pid }) => pid)).size;
    await expect.poll(workersSeen).toBe(2);
    for (const worker of workers) expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });

    const { rows: ticks } = await queueing.pool.query<{ name: string; due: string }>('select * from ticks');
    expect(new Set(ticks.map(({ name, due }) => `${name} ${due}`)).size).toBe(ticks.length);
    const { rows: waiting } = await queueing.pool.query<{ key: string }>('select key from wanted_jobs');
    for (const name of names) {
      const acted = ticks.filter((tick) => tick.name === name).length;
      const ran = (await counted(queueing)).filter(({ key }) => key === name).length;
      const waits = waiting.filter(({ key }) => key === name).length;
      // Never more often than it ticked. A tick whose work still waits for the tick before is one with it.
      expect(ran + waits).toBeLessThanOrEqual(acted);
      expect(ran).toBeGreaterThan(0);
    }
  });

  test('a tick that was missed while no worker ran is made up for once on start', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const { pool } = queueing;
    const daily = [countEvery('daily', DAILY)];
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
    const worker = await queueing.start({ schedules: [countEvery('daily', DAILY)] });
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
    const before = [countEvery('old', DAILY), countEvery('changed', DAILY)];
    await (await queueing.start({ schedules: before })).end('SIGTERM');
    const worker = await queueing.start({ schedules: [countEvery('changed', EVERY_SECOND)] });
    await waitForCounts(queueing, 1);
    const backend = await queueing.open();
    const schedulers = await backend.queue.getJobSchedulers();
    await backend.close();
    await worker.end('SIGTERM');
    expect(schedulers.map(({ key, pattern }) => [key, pattern])).toEqual([['changed', EVERY_SECOND]]);
    const { rows } = await queueing.pool.query('select name from schedules');
    expect(rows).toEqual([{ name: 'changed' }]);
  });

  test('workers that start all at once leave one waiting tick per schedule, and chains that move', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const { db, settings } = queueing;
    const schedules = ['a', 'b', 'c'].map((name) => countEvery(name, DAILY));
    const log = makeLogger('fatal');
    const kinds = { count: { attempts: 1, isNews: () => false, next: () => [] } };
    const workers = await Promise.all(
      Array.from({ length: 4 }, () =>
        startWorker(
          { db, log, handlers: {}, probe: async () => {} },
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
    const worker = await queueing.start({ schedules: [countEvery('a', EVERY_SECOND)] });
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
