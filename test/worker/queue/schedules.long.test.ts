// Ticks, on both queues: each is acted upon once, however often the alarm rings, and none is lost.

import { beforeAll, describe, expect, test } from 'vitest';
import type { TestSandbox } from '../../sandbox/running-sandbox.ts';
import {
  countEvery,
  DAILY,
  EVERY_SECOND,
  KINDS,
  makeProgram,
  makeQueueing,
  missTick,
  type Queueing,
} from './queueing.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

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

  test('a schedule that the catalogue no longer names is gone, and one that changed ticks as it now says', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const before = [countEvery('old', DAILY), countEvery('changed', DAILY)];
    await (await queueing.start({ counts: before })).end('SIGTERM');
    const worker = await queueing.start({ counts: [countEvery('changed', EVERY_SECOND)] });
    await waitForCounts(queueing, 1);
    const backend = await queueing.open();
    const schedulers = async () => {
      const found = await backend.queue.getJobSchedulers();
      return found.map(({ key, pattern }) => [key, pattern]).toSorted();
    };
    await expect.poll(schedulers).toEqual([
      ['changed', EVERY_SECOND],
      ['sync-full', DAILY],
    ]);
    await backend.close();
    await worker.end('SIGTERM');
  });
});
