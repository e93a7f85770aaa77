// A job that waits after a failure is woken for what else is due, and another worker may take it at that moment. (That
// it is woken: duties.test.ts.)

import { expect, test } from 'vitest';
import { ensureJob } from '../../src/queue/ensure-job.ts';
import { TIMINGS } from '../../src/queue/timings.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { makeQueueing } from './queueing.ts';

const DAY_MS = 86_400_000;

test('a job that is woken stays with the worker that took it meanwhile, and is done once', async () => {
  const queueing = await makeQueueing('postgres', { url: 'http://127.0.0.1:9' });
  const { queue, close } = await queueing.open();
  const data = { atMs: 1, failed: ['first'] };
  const job = await queue.add('x', data, { jobId: 'x-1', delay: DAY_MS, deduplication: { id: 'x' } });
  const other = await queueing.pool.connect();
  await other.query(`
    begin;
    update mirror_queue.job set state = 'active', lock_token = 'other' where id = 'x-1'`);
  const due = ['first', 'second'].map((subject) => ({ id: `${subject}-1`, subject, atMs: 1 }));
  const woken = ensureJob(queue, { name: 'x', ...TIMINGS }, due);
  await expect.poll(() => countWaiting(queueing.pool)).toBe(1);
  await other.query('commit');
  other.release();
  await woken;
  expect(await job.getState()).toBe('active');
  await close();
});
