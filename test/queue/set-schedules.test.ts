// A schedule that is set while another worker acts upon its tick, on both queues.

import { describe, expect, test } from 'vitest';
import { type Schedule, setSchedules } from '../../src/queue/schedules.ts';
import { countEvery, DAILY, EVERY_SECOND, KINDS, makeQueueing } from './queueing.ts';

const NO_PROGRAM = { url: 'http://127.0.0.1:9' };
const TOKEN = 'another worker';
const NEVER = new AbortController().signal;

/** Returns the queue, in which a worker with a clock ahead has begun the schedule's next tick, and not moved it on. */
async function beginNextTick(kind: (typeof KINDS)[number], schedule: Schedule) {
  const { open } = await makeQueueing(kind, NO_PROGRAM);
  const backend = await open();
  const { queue } = backend;
  await setSchedules(queue, [schedule], NEVER);
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
  return { queue, tick, close };
}

describe.each(KINDS)('a schedule on %s whose next tick is under way', (kind) => {
  test('is set once the worker that has the tick is done', async () => {
    const schedule = countEvery('daily', DAILY);
    const { queue, tick, close } = await beginNextTick(kind, schedule);
    let isSet = false;
    const setting = setSchedules(queue, [schedule], NEVER).then(() => {
      isSet = true;
    });
    // One that refuses, or does not wait, has ended by then: each step before this took less.
    await queue.getJobCounts();
    await queue.getJobSchedulers();
    expect(isSet).toBe(false);
    await tick.moveToCompleted(null, TOKEN, false);
    await setting;
    expect(await queue.getJobCounts('delayed', 'active')).toEqual({ delayed: 1, active: 0 });
    await close();
  });

  test('is no longer waited for by a worker that is to stop', async () => {
    const schedule = countEvery('daily', DAILY);
    const { queue, close } = await beginNextTick(kind, schedule);
    const stop = new AbortController();
    const setting = setSchedules(queue, [schedule], stop.signal);
    stop.abort(new Error('stopped'));
    await expect(setting).rejects.toThrow('stopped');
    await close();
  });

  test('is set to the tick after it where that worker died', async () => {
    const schedule = countEvery('often', EVERY_SECOND);
    const { queue, tick, close } = await beginNextTick(kind, schedule);
    const { prevMillis } = tick.opts;
    await setSchedules(queue, [schedule], NEVER);
    const [found] = await queue.getJobSchedulers();
    expect(found?.next).toBeGreaterThan(prevMillis ?? Infinity);
    await close();
  });
});
