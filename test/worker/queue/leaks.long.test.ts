// A worker runs for months: what it holds after many runs is what it held before, on both queues.

import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { TICK } from '../../../src/worker/queue/schedules.ts';
import { runSandbox } from '../../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { KINDS, makeQueueing, missTick, type Queueing } from './queueing.ts';
import type { WorkerProcess } from './worker-processes.ts';

/** What a garbage collector may leave, and caches may grow by; a leak of one page per run would be several times that. */
const TOLERATED_BYTES = 4_000_000;
/** A pool that grows late brings its connections and their timers; a leak of one thing per run, twice as many. */
const TOLERATED_RESOURCES = 10;
/** Of a worker: 8 of its pool, and of the queue 4 in Postgres, or 2 in Redis. */
const MOST_CONNECTIONS = { postgres: 6 + 5, redis: 6 };
const MOST_REDIS_CONNECTIONS = 2;

/** Of affiliates and referrals each, before and after the first look. */
const WARM_UP = 20;
const RUNS = 60;

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool, { affiliates: 5, referrals: 10 });

async function countConnections({ pool }: Queueing): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name <> 'test' and pid <> pg_backend_pid()`,
  );
  return rows[0]?.count ?? Number.NaN;
}

async function countRedisConnections(url: string): Promise<number> {
  const redis = new Redis(url);
  const list = String(await redis.client('LIST'));
  redis.disconnect();
  return list.trim().split('\n').length - 1;
}

describe.each(KINDS)(`${WARM_UP + RUNS} pairs of runs in a row on %s`, (kind) => {
  test('leave memory and connections as they were', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const worker = await queueing.start();
    const backend = await queueing.open();
    await missTick(queueing);
    const run = async (times: number) => {
      for (let done = 0; done < times; done += 1) {
        const soFar = worker.said('sync.finished').length;
        // As if the last runs had been before the last tick.
        await queueing.pool.query(`update sync_runs set finished_at = finished_at - interval '1 day'`);
        await backend.queue.add(TICK, {}, { removeOnComplete: true });
        await worker.says('sync.finished', soFar + 2);
      }
    };
    await run(WARM_UP);
    const before = await holdings(queueing, worker);
    await run(RUNS);
    const after = await holdings(queueing, worker);
    await backend.close();
    await worker.end('SIGTERM');

    expect(worker.said('sync.finished')).toHaveLength(2 * (WARM_UP + RUNS));
    expect(after.heapUsed - before.heapUsed).toBeLessThan(TOLERATED_BYTES);
    expect(after.resources).toBeLessThanOrEqual(before.resources + TOLERATED_RESOURCES);
    // The test's own queue counts as well.
    expect(after.connections).toBeLessThanOrEqual(MOST_CONNECTIONS[kind] + 1);
    expect(after.redis).toBeLessThanOrEqual(MOST_REDIS_CONNECTIONS + 1);
  });
});

async function holdings(
  queueing: Queueing,
  worker: WorkerProcess,
): Promise<{ heapUsed: number; resources: number; connections: number; redis: number }> {
  return {
    ...(await worker.measure()),
    connections: await countConnections(queueing),
    redis: queueing.redis === null ? 0 : await countRedisConnections(queueing.redis.url),
  };
}
