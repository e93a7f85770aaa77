// A schedule that is set while another worker acts upon its tick, on both queues.

import { describe, expect, test } from 'vitest';
import { keepSchedules, type Schedule } from '../../../src/worker/queue/schedules.ts';
import { countEvery, DAILY, EVERY_SECOND, KINDS, makeQueueing } from './queueing.ts';

const NO_PROGRAM = { url: 'http://127.0.0.1:9' };
const TOKEN = 'another worker';
/** After that, a schedule that does not move is known to be stuck. */
const LATER_MS = 11_000;

/** Returns the queue, in which a worker with a clock ahead has begun the schedule's next tick, and not moved it on. */
async function beginNextTick(kind: (typeof KINDS)[number], schedule: Schedule) {
  const { open, db, settings } = await makeQueueing(kind, NO_PROGRAM);
  const backend = await open();
  const { queue } = backend;
  const deps = { db, queue, mirrorSchema: settings.mirrorSchema };
  await keepSchedules(deps, [schedule], Date.now());
  const [tick] = await queue.getDelayed();
  if (tick === undefined) throw new Error('the schedule has no tick');
  await tick.promote();
  const worker = await backend.makeWorker(async () => {}, { autorun: false });
  await worker.backend.moveToActive(TOKEN);
  expect(await tick.getState()).toBe('active');
  const close = async () => {
    await worker.close();
    await backend.close();
  };
  return { deps, queue, tick, close };
}

describe.each(KINDS)('a schedule on %s whose next tick is under way', (kind) => {
  test('is left to the worker that has the tick, and is set by the next round where that does not move it on', async () => {
    const schedule = countEvery('daily', DAILY);
    const { deps, queue, tick, close } = await beginNextTick(kind, schedule);
    await keepSchedules(deps, [schedule], Date.now());
    expect(await queue.getJobCounts('delayed', 'active')).toEqual({ delayed: 0, active: 1 });
    await tick.moveToCompleted(null, TOKEN, false);
    await queue.removeJobScheduler('daily');
    await keepSchedules(deps, [schedule], Date.now() + LATER_MS);
    expect(await queue.getJobCounts('delayed', 'active')).toEqual({ delayed: 1, active: 0 });
    await close();
  });

  test('is set to the tick after it by a round where that worker died', async () => {
    const schedule = countEvery('often', EVERY_SECOND);
    const { deps, queue, tick, close } = await beginNextTick(kind, schedule);
    const { prevMillis } = tick.opts;
    await keepSchedules(deps, [schedule], Date.now());
    const next = async () => {
      await keepSchedules(deps, [schedule], Date.now() + LATER_MS);
      return (await queue.getJobScheduler('often'))?.next;
    };
    await expect.poll(next).toBeGreaterThan(prevMillis ?? Infinity);
    await close();
  });
});
