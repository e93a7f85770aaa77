// A Redis of the bench's own. (That of test/support ends with a file of tests, and writes out every command.)

import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { makeDirectory, startChild } from './start-child.ts';

/**
 * Returns the address of a Redis that answers, set up as the documentation asks for (AOF, written out every
 * second); null where this machine has none.
 */
export async function startRedis(cleanup: AsyncDisposableStack): Promise<string | null> {
  const port = await findFreePort();
  const directory = makeDirectory(cleanup, 'affiliate-mirror-bench-redis-');
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--appendonly', 'yes'];
  const child = startChild(cleanup, 'redis-server', [...options, '--maxmemory-policy', 'noeviction'], {
    stdio: 'ignore',
  });
  const isThere = await once(child, 'spawn').then(
    () => true,
    () => false,
  );
  if (!isThere) return null;
  const url = `redis://127.0.0.1:${port}/0`;
  // It asks again while nobody answers yet.
  const redis = new Redis(url);
  redis.on('error', () => undefined);
  await redis.ping();
  redis.disconnect();
  return url;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
