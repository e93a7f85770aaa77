// Ticks, on both queues: each is acted upon once, however often the alarm rings, and none is lost.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeLogger } from '../../src/log.ts';
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
  missTick,
  type Queueing,
  ring,
} from './queueing.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

afterAll(() => sandbox.close());

interface Counted {
  readonly key: string;
  readonly tick: string;
  readonly pid: number;
}

async function counted({ pool }: Queueing): Promise<Counted[]> {
  const { rows } = await pool.query<Counted>('select key, tick, pid from counted order by key, tick');
  return rows;
}

async function waitForCounts(queueing: Queueing, least: number): Promise<void> {
  await expect
    .poll(() => counted(queueing).then((rows) => rows.length), { interval: 50 })
    .toBeGreaterThanOrEqual(least);
}

describe.each(KINDS)('schedules on %s', (kind) => {
  test('each tick is acted upon once with two workers, and both take work', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const names = ['a', 'b', 'c', 'd'];
    const counts = names.map((name) => countEvery(name, EVERY_SECOND));
    const workers = await Promise.all([queueing.start({ counts }), queueing.start({ counts })]);
    await waitForCounts(queueing, 12);
    const workersSeen = async () => new Set((await counted(queueing)).map(({ pid }) => pid)).size;
    await expect.poll(workersSeen).toBe(2);
    for (const worker of workers) expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });

    const rows = await counted(queueing);
    expect(new Set(rows.map(({ key }) => key))).toEqual(new Set(names));
    expect(new Set(rows.map(({ key, tick }) => `${key} ${tick}`)).size).toBe(rows.length);
    // A tick is a whole second, whenever it was acted upon.
    expect(rows.filter(({ tick }) => Date.parse(tick) % 1000 !== 0)).toEqual([]);
  });

  test('a tick that was missed while no worker ran is made up for once on start', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const counts = [countEvery('daily', DAILY)];
    await (await queueing.start({ counts })).end('SIGTERM');
    expect(await counted(queueing)).toEqual([]);
    // Three days without a worker.
    await missTick(queueing);
    const back = await queueing.start({ counts });
    await waitForCounts(queueing, 1);
    await back.end('SIGTERM');
    await (await queueing.start({ counts })).end('SIGTERM');
    expect(await counted(queueing)).toHaveLength(1);
  });

  test('an alarm that rings early does nothing, and one that rings again does nothing more', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const timings = { ...FAST, watchIntervalMs: 600_000 };
    const worker = await queueing.start({ counts: [countEvery('daily', DAILY)], timings });
    await ring(queueing);
    await untilRung(queueing);
    expect(await counted(queueing)).toEqual([]);
    await missTick(queueing);
    await ring(queueing);
    await waitForCounts(queueing, 1);
    for (const _again of [1, 2]) {
      await ring(queueing);
      await untilRung(queueing);
    }
    await worker.end('SIGTERM');
    expect(await counted(queueing)).toHaveLength(1);
  });

  test('what failed for good is left alone until its next tick, unless the queue forgets it', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const { pool } = queueing;
    await missTick(queueing);
    await pool.query(`alter table counted add constraint broken check (key <> 'daily')`);
    const counts = [countEvery('daily', DAILY), countEvery('a', EVERY_SECOND)];
    const worker = await queueing.start({ counts });
    await worker.says('job.failed');
    // Many looks later.
    await waitForCounts(queueing, 3);
    expect(worker.said('job.failed')).toHaveLength(1);
    const backend = await queueing.open();
    const [failed] = await backend.queue.getFailed();
    expect(failed).toMatchObject({ name: 'daily', failedReason: expect.stringContaining('broken') });
    await pool.query('alter table counted drop constraint broken');
    await failed?.remove();
    await backend.close();
    const daily = async () => (await counted(queueing)).filter(({ key }) => key === 'daily').length;
    await expect.poll(daily).toBe(1);
    await worker.end('SIGTERM');
  });

  test('a schedule that the catalogue no longer names is gone, and one that changed ticks as it now says', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const before = [countEvery('old', DAILY), countEvery('changed', DAILY)];
    await (await queueing.start({ counts: before })).end('SIGTERM');
    const worker = await queueing.start({ counts: [countEvery('changed', EVERY_SECOND)] });
    await waitForCounts(queueing, 1);
    const backend = await queueing.open();
    const schedulers = await backend.queue.getJobSchedulers();
    await backend.close();
    await worker.end('SIGTERM');
    expect(schedulers.map(({ key, pattern }) => [key, pattern]).toSorted()).toEqual([
      ['changed', EVERY_SECOND],
      ['sync-full', DAILY],
    ]);
  });

  test('workers that start all at once leave one waiting tick per schedule, and chains that move', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const { db, settings } = queueing;
    const schedules = ['a', 'b', 'c'].map((name) => countEvery(name, DAILY));
    const sources = [{ name: 'never', needsProgram: false, schedules, findDue: async () => [] }];
    const log = makeLogger('fatal');
    const workers = await Promise.all(
      Array.from({ length: 4 }, () =>
        startWorker({ db, log, probe: async () => {} }, { queue: settings, sources, timings: FAST }),
      ),
    );
    const backend = await queueing.open();
    const { delayed } = await backend.queue.getJobCounts('delayed');
    await backend.close();
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(delayed).toBe(3);
  });

  test('a chain that died is revived, and goes on', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const worker = await queueing.start({ counts: [countEvery('a', EVERY_SECOND)] });
    await waitForCounts(queueing, 1);
    const backend = await queueing.open();
    await backend.queue.removeJobScheduler('a');
    await expect.poll(async () => (await backend.queue.getJobScheduler('a'))?.next ?? 0).toBeGreaterThan(0);
    const next = async () => (await backend.queue.getJobScheduler('a'))?.next ?? 0;
    const soFar = await next();
    await expect.poll(next).toBeGreaterThan(soFar);
    const soFarCounted = (await counted(queueing)).length;
    await waitForCounts(queueing, soFarCounted + 2);
    await backend.close();
    await worker.end('SIGTERM');
  });
});

/** Resolves once the worker has taken every alarm that rang. */
async function untilRung(queueing: Queueing): Promise<void> {
  const backend = await queueing.open();
  const left = () => backend.queue.getJobCounts('waiting', 'active');
  await expect.poll(left).toEqual({ waiting: 0, active: 0 });
  await backend.close();
}
