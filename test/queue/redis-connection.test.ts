// The connection to Redis, as BullMQ uses it.

import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { connectToRedis } from '../../src/queue/redis-connection.ts';
import { startCluster, startRedis } from '../support/redis.ts';

describe.each([
  ['one server', async () => [await startRedis()]],
  // A node that has met no other does not know its own address.
  ['a Cluster', () => startCluster(2)],
])('a connection to %s that is given up ends at once, and what waits for it fails,', (_which, start) => {
  async function connect() {
    const nodes = await start();
    const { client } = await connectToRedis(nodes[0]?.url ?? '', () => {});
    return { nodes, client: client as Redis };
  }

  test('between two tries', async () => {
    const { nodes, client } = await connect();
    // As BullMQ makes that of a worker, on which the worker waits for its jobs.
    const ofWorker = client.duplicate();
    await ofWorker.ping();
    for (const node of nodes) await node.stop();
    // A Cluster notices only when it is asked: of its nodes, one that it never used is not connected.
    const waiting = expect(ofWorker.get('anything')).rejects.toThrow();
    await expect.poll(() => ofWorker.status).toBe('reconnecting');
    const ended = once(ofWorker, 'end');
    ofWorker.disconnect();
    await waiting;
    await ended;
    client.disconnect();
  });

  test('before the first try', async () => {
    const { client } = await connect();
    const ofWorker = client.duplicate();
    const waiting = ofWorker.get('anything');
    const ended = once(ofWorker, 'end');
    ofWorker.disconnect();
    await expect(waiting).rejects.toThrow();
    await ended;
    client.disconnect();
  });
});
