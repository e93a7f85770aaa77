// A worker process as the command `work` puts it together, with time scaled down, and with a job `count` that only
// says who did it. Started by worker-processes.ts; logs to stderr, measures itself when it is told to.

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { makeApiClient } from '../../src/api/client.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import { readRateLimit } from '../../src/config/rate-limit.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { JOBS } from '../../src/jobs/catalogue.ts';
import { makePollJob } from '../../src/jobs/poll-job.ts';
import { makeSyncJob } from '../../src/jobs/sync-job.ts';
import { makeLogger } from '../../src/log.ts';
import type { JobHandler } from '../../src/queue/process-job.ts';
import type { Schedule } from '../../src/queue/schedules.ts';
import { startWorker } from '../../src/queue/start-worker.ts';
import { TIMINGS, type Timings } from '../../src/queue/timings.ts';

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
  readonly apiUrl: string;
  readonly secret: string;
  readonly rateLimit: string;
  readonly schedules: readonly Schedule[];
  readonly timings: Partial<Timings>;
}

const given: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const { databaseUrl, redisUrl, schedules, timings } = given;
const log = makeLogger('info');
const pool = makePool({ log }, { url: databaseUrl, schema: 'mirror', max: 8, applicationName: 'worker' });
const db = makeDatabase(pool);
const rateLimit = readRateLimit(given.rateLimit) ?? null;
const takePermit = makeTakePermit({ db, log }, { rateLimit, priority: 'reads', requestTimeoutMs: 2000 });
const program = { url: given.apiUrl, secret: given.secret, timeoutMs: 2000 };
// Two tries in place instead of five: the queue's own patience is what is tested.
const api = makeApiClient({ takePermit, log }, { ...program, attempts: { most: 2, mostThrottled: 2 } });
const probeApi = makeApiClient({ takePermit, log }, { ...program, attempts: { most: 1, mostThrottled: 1 } });

const count: JobHandler = async (row) => {
  await sql`insert into counted (key, wanted_at, pid) values (${row.key}, ${row.wanted_at}, ${process.pid})`.execute(
    db,
  );
  // Long enough for the other worker to take the other job that waits.
  await sleep(20);
  return { kind: 'done', result: {} };
};

const worker = await startWorker(
  {
    db,
    log,
    handlers: {
      count,
      'poll-commissions': makePollJob({ api, db, log }),
      sync: makeSyncJob({ api, db, log }, { concurrency: 1 }, { ...TIMINGS, ...timings }),
    },
    probe: async (signal) => {
      await probeApi.list('affiliates', { page: 1, limit: 1 }, { signal });
    },
  },
  {
    queue: { redisUrl, databaseUrl, mirrorSchema: 'mirror' },
    kinds: { ...JOBS, count: { attempts: 5, isNews: () => false, next: () => [] } },
    schedules,
    timings,
  },
);

process.on('message', () => {
  globalThis.gc?.();
  process.send?.({
    heapUsed: process.memoryUsage().heapUsed,
    resources: process.getActiveResourcesInfo().length,
  });
});

// The test has ended: nothing else would stop this process.
process.once('disconnect', () => process.exit(1));

async function end(): Promise<void> {
  process.removeAllListeners('disconnect');
  await worker.stop();
  await Promise.all([api.close(), probeApi.close()]);
  await pool.end();
  process.disconnect?.();
}

process.once('SIGTERM', end);
// Only a worker that is not fit to go on ends by itself.
worker.ended.catch(async (error) => {
  log.fatal({ reason: error.message }, 'worker.unfit');
  process.exitCode = 1;
  await end();
});
