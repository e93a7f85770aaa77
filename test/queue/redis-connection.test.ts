// The connection to Redis, as BullMQ uses it.

import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { connectToRedis } from '../../src/queue/redis-connection.ts';
import { startRedis } from '../support/redis.ts';

test('a connection that is given up between two tries ends at once, and what waits for it fails', async () => {
  const redis = await startRedis();
  const { client } = await connectToRedis(redis.url, () => {});
  // As BullMQ makes that of a worker, on which the worker waits for its jobs.
  const ofWorker = (client as Redis).duplicate();
  await ofWorker.ping();
  const lost = once(ofWorker, 'reconnecting');
  await redis.stop();
  await lost;
  const waiting = ofWorker.get('anything');
  const ended = once(ofWorker, 'end');
  ofWorker.disconnect();
  await expect(waiting).rejects.toThrow('Connection is closed');
  await ended;
  client.disconnect();
});
