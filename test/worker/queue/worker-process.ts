// A worker process as the command `work` puts it together, with time scaled down, and with sources that only count: they
// say who acted upon which tick. Started by worker-processes.ts; logs to stderr, measures itself when it is asked to.

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { makeApiClient } from '../../../src/api/client.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { makeTakePermit } from '../../../src/budget/shared-budget.ts';
import type { ProgramConfig } from '../../../src/config/config.ts';
import { readRateLimit } from '../../../src/config/program/rate-limit.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import type { JobSource } from '../../../src/worker/queue/job-source.ts';
import { lastTick, type Schedule } from '../../../src/worker/queue/schedules.ts';
import { TIMINGS, type Timings } from '../../../src/worker/queue/timings.ts';
import { makePollSource } from '../../../src/worker/sources/poll-job.ts';
import { probeProgram } from '../../../src/worker/sources/probe-program.ts';
import { makeSchedules, makeSyncSource } from '../../../src/worker/sources/sync-job.ts';
import { serveOne } from './serve-one.ts';

export interface WorkerProcessOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
  readonly apiUrl: string;
  readonly secret: string;
  readonly rateLimit: string;
  readonly syncs: ProgramConfig['schedules'];
  readonly counts: readonly Schedule[];
  readonly timings: Partial<Timings>;
}

const given: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const { databaseUrl, redisUrl, syncs, counts, timings } = given;
const log = makeLogger('info');
const pool = makePool({ log }, { url: databaseUrl, schema: 'mirror', max: 6, applicationName: 'worker' });
const db = makeDatabase(pool);
const rateLimit = readRateLimit(given.rateLimit) ?? null;
const takePermit = makeTakePermit({ db, log }, { rateLimit, priority: 'reads', requestTimeoutMs: 2000 });
const program = { url: given.apiUrl, secret: given.secret, timeoutMs: 2000 };
// Two tries in place instead of five: the queue's own patience is what is tested.
const api = makeApiClient({ takePermit, log }, { ...program, attempts: { most: 2, mostThrottled: 2 } });
const probeApi = makeApiClient({ takePermit, log }, { ...program, attempts: { most: 1, mostThrottled: 1 } });

function makeCounter(schedule: Schedule): JobSource {
  const { name } = schedule;
  return {
    name,
    needsProgram: false,
    schedules: [schedule],
    async findDue(moment) {
      const tickMs = lastTick(schedule, moment);
      if (tickMs === null) return [];
      const { rows } = await sql`
        select from counted where key = ${name} and tick >= to_timestamp(${tickMs / 1000}::float8)`.execute(
        db,
      );
      if (rows.length > 0) return [];
      const run = async () => {
        await sql`insert into counted values (${name}, to_timestamp(${tickMs / 1000}::float8), ${process.pid})`.execute(
          db,
        );
        // Long enough for the other worker to take the other job that waits.
        await sleep(20);
        return { kind: 'done' } as const;
      };
      return [{ id: `${name}-${tickMs}`, priority: 1, run }];
    },
  };
}

// It says that it has started before this process can go on: a signal may come by then.
const starting = serveOne(
  {
    db,
    log,
    probe: (signal) => probeProgram({ api: probeApi, db }, signal),
  },
  {
    queue: { redisUrl, databaseUrl, mirrorSchema: 'mirror' },
    sources: [
      makeSyncSource({ api, db, log }, { schedules: makeSchedules(syncs) }, { ...TIMINGS, ...timings }),
      makePollSource({ api, db, log }),
      ...counts.map(makeCounter),
    ],
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

process.once('SIGTERM', end);
const worker = await starting;
// Only a worker that is not fit to go on ends by itself.
worker.ended.catch(async (error) => {
  log.fatal({ reason: error.message }, 'worker.unfit');
  process.exitCode = 1;
  await end();
});

async function end(): Promise<void> {
  process.removeAllListeners('disconnect');
  await (await starting).stop();
  await Promise.all([api.close(), probeApi.close()]);
  await pool.end();
  process.disconnect?.();
}
