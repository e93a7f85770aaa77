// What a test of the workers needs, on either queue: a mirror, a program in a database of its own, and workers.

import { expect } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { openQueue, type QueueBackend } from '../../../src/worker/queue/backend.ts';
import { migrateQueue, type QueueSettings } from '../../../src/worker/queue/queue-tables.ts';
import { type Schedule, TICK } from '../../../src/worker/queue/schedules.ts';
import type { Timings } from '../../../src/worker/queue/timings.ts';
import { readQueueId } from '../../../src/worker/queue/worker-state.ts';
import { runSandbox, SECRET, type TestSandbox } from '../../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import type { WorkerProcessOptions } from './worker-process.ts';
import { type StartOptions, startWorkerProcess, type WorkerProcess } from './worker-processes.ts';

export type Kind = 'postgres' | 'redis';

export const KINDS: readonly Kind[] = ['postgres', 'redis'];

/** Seconds become tenths: everything that a worker waits for, in proportion. */
export const FAST: Partial<Timings> = {
  // The shortest that a starved machine still renews in time.
  lockDurationMs: 2500,
  stalledIntervalMs: 400,
  drainDelayMs: 500,
  runRetryMs: 200,
  watchIntervalMs: 400,
  firstBackoffMs: 200,
  longestBackoffMs: 1000,
  handBackMs: 300,
  throttledMs: 300,
  firstProbeMs: 500,
  longestProbeMs: 1000,
  compareAgainMs: 100,
  stopDeadlineMs: 60_000,
};

export interface Queueing {
  readonly settings: QueueSettings;
  readonly pool: Pool;
  readonly db: Database;
  readonly redis: TestRedis | null;
  start(options?: Partial<WorkerProcessOptions>, how?: StartOptions): Promise<WorkerProcess>;
  /** The queue as a worker sees it; to be closed by the test. */
  open(): Promise<QueueBackend>;
}

/** Returns a mirror with its queue, in `database`, or in a new one where left out. */
export async function makeQueueing(
  kind: Kind,
  sandbox: Pick<TestSandbox, 'url'>,
  database?: { url: string; pool: Pool },
): Promise<Queueing> {
  const { url, pool } = database ?? (await createTestDatabase());
  const redis = kind === 'redis' ? await startRedis() : null;
  const settings = { redisUrl: redis?.url ?? null, databaseUrl: url, mirrorSchema: 'mirror' };
  await migrateQueue(pool, settings);
  await pool.query('create table counted (key text, tick timestamptz, pid int)');
  const db = makeDatabase(pool);
  return {
    settings,
    pool,
    db,
    redis,
    start: (options, how) =>
      startWorkerProcess(
        {
          databaseUrl: url,
          redisUrl: settings.redisUrl,
          apiUrl: sandbox.url,
          secret: SECRET,
          rateLimit: 'none',
          syncs: { full: DAILY, delta: null, timezone: 'UTC' },
          counts: [],
          timings: FAST,
          ...options,
        },
        how,
      ),
    open: async () => openQueue({ log: makeLogger('fatal') }, settings, await readQueueId(db)),
  };
}

/** A program big enough that a run can be met in its middle. */
export const PROGRAM = { seed: 3, affiliates: 40, referrals: 2000 };

export async function makeProgram(): Promise<TestSandbox> {
  const { pool } = await createTestDatabase();
  return runSandbox(pool, PROGRAM);
}

/** Once a day, and not within the next hours, whenever the test runs. */
export const DAILY = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;

export const EVERY_SECOND = '* * * * * *';

/** A schedule of the duty that only counts. */
export function countEvery(name: string, pattern: string): Schedule {
  return { name, pattern, timezone: 'UTC' };
}

/** Has the last tick of every daily schedule be one that the mirror has missed. */
export async function missTick({ pool }: Queueing): Promise<void> {
  await pool.query(`update worker_state set made_at = now() - interval '3 days'`);
}

/** Has whichever worker is there look at what is due. */
async function ring(queueing: Queueing): Promise<void> {
  const backend = await queueing.open();
  await backend.queue.add(TICK, {}, { removeOnComplete: true });
  await backend.close();
}

/** Has a full sync of everything done by whichever worker is there. */
export async function wantFullSync(queueing: Queueing): Promise<void> {
  await missTick(queueing);
  await ring(queueing);
}

/** Resolves once affiliates and referrals were synced. */
export async function untilSynced({ pool }: Queueing): Promise<void> {
  const resources = () =>
    pool
      .query(`select distinct resource from sync_runs where state = 'succeeded' order by resource`)
      .then(({ rows }) => rows.map(({ resource }) => resource));
  await expect.poll(resources, { interval: 50 }).toEqual(['affiliates', 'referrals']);
}
