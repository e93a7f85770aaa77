// A mirror that was copied, for staging say, and whose workers use the same Redis as the original's.

import { expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { openQueue } from '../../../src/worker/queue/backend.ts';
import { readQueueId } from '../../../src/worker/queue/worker-state.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startRedis } from '../../support/redis.ts';

test('a copy has a queue of its own in the same Redis: its workers do not take the jobs of the other', async () => {
  const redis = await startRedis();
  const mirrors = [await createTestDatabase(), await createTestDatabase()];
  const queueId = '00000000-0000-4000-8000-000000000000';
  const [original, copy] = await Promise.all(
    mirrors.map(async ({ db, pool, url }) => {
      // As `create database … template` leaves it.
      await pool.query('update worker_state set queue_id = $1', [queueId]);
      const settings = { redisUrl: redis.url, databaseUrl: url, mirrorSchema: 'mirror' };
      const backend = await openQueue({ log: makeLogger('fatal') }, settings, await readQueueId(db));
      onTestFinished(() => backend.close());
      return backend;
    }),
  );
  await original?.queue.add('sync', {}, { jobId: 'due' });
  expect(await original?.queue.getJobCountByTypes('waiting')).toBe(1);
  expect(await copy?.queue.getJobCountByTypes('waiting')).toBe(0);
});
