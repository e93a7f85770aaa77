// A job whose lock another worker may have by now is left at once: two workers would do the same.

import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { LOCK_LOST } from '../../../src/worker/queue/backend.ts';
import type { JobSource } from '../../../src/worker/queue/job-source.ts';
import { queueSchema } from '../../../src/worker/queue/queue-tables.ts';
import { FAST, KINDS, makeQueueing, type Queueing } from './queueing.ts';
import { serveOne } from './serve-one.ts';

const log = makeLogger('fatal');

describe.each(KINDS)('on %s', (kind) => {
  test('a job whose lock is lost is aborted, with that as the reason', async () => {
    const queueing = await makeQueueing(kind, { url: 'http://127.0.0.1:9' });
    const begun = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const duty: JobSource = {
      name: 'long',
      needsProgram: false,
      schedules: [],
      findDue: async () => (reasons.length > 0 ? [] : [{ id: 'long-1', priority: 1, run }]),
    };
    async function run({ signal }: { signal: AbortSignal }): Promise<never> {
      begun.resolve();
      await once(signal, 'abort');
      reasons.push(signal.reason);
      throw signal.reason;
    }
    const worker = await serveOne(
      { db: queueing.db, log, probe: async () => {} },
      { queue: queueing.settings, sources: [duty], timings: FAST },
    );
    onTestFinished(() => worker.stop());
    await begun.promise;
    await giveLockAway(queueing);
    await expect.poll(() => reasons).toEqual([LOCK_LOST]);
  });
});

/** Has the job's lock be another worker's. */
async function giveLockAway({ pool, redis }: Queueing): Promise<void> {
  if (redis === null) {
    const { rowCount } = await pool.query(
      `update ${queueSchema('mirror')}.job set lock_token = 'of-another' where lock_token is not null`,
    );
    expect(rowCount).toBe(1);
    return;
  }
  const client = new Redis(redis.url);
  const [lock = 'none'] = await client.keys('*:lock');
  await client.set(lock, 'of-another');
  await client.quit();
}
