// On Postgres, BullMQ writes a row for everything that happens to a job. Nothing here reads them: they are trimmed.

import { expect, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { TICK } from '../../../src/worker/queue/schedules.ts';
import { FAST, makeQueueing } from './queueing.ts';
import { serveOne } from './serve-one.ts';

const JOBS = 800;
/** Each is added, waits, is active, completes. */
const EVENTS_OF_A_JOB = 4;
/** BullMQ trims at every 256th event, and skips that where another transaction does it already. */
const MOST_KEPT = 1000 + 3 * 256;

test("the rows of BullMQ's events on Postgres stay few, however many jobs there are", async () => {
  const { db, pool, settings, open } = await makeQueueing('postgres', { url: 'http://127.0.0.1:9' });
  const worker = await serveOne(
    { db, log: makeLogger('fatal'), probe: async () => {} },
    { queue: settings, sources: [], timings: FAST },
  );
  const backend = await open();
  await backend.queue.addBulk(Array.from({ length: JOBS }, () => ({ name: TICK, data: {} })));
  await expect.poll(() => backend.queue.getJobCounts('completed')).toEqual({ completed: JOBS });
  await backend.close();
  await worker.stop();
  const { rows } = await pool.query<{ written: number; kept: number }>(
    'select (select last_value from mirror_queue.event_seq) as written, count(*) as kept from mirror_queue.event',
  );
  expect(rows[0]?.written).toBeGreaterThanOrEqual(JOBS * EVENTS_OF_A_JOB);
  expect(rows[0]?.kept).toBeLessThanOrEqual(MOST_KEPT);
});
