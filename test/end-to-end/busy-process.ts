// A process that does all of affiliate-mirror's work: a worker that syncs and pays, or a foreground writer
// (`commissions apply --wait`), both with time scaled down. Started by freezes.long.test.ts; runs until SIGTERM.

import { setTimeout as sleep } from 'node:timers/promises';
import { makeApiClient } from '../../src/api/client.ts';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { Priority } from '../../src/budget/waits.ts';
import { readRateLimit } from '../../src/config/program/rate-limit.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { awaitUpdates } from '../../src/payments/write/await-updates.ts';
import { TIMINGS, type Timings } from '../../src/worker/queue/timings.ts';
import { makeCommissionsSource } from '../../src/worker/sources/commissions-job.ts';
import { makeSchedules, makeSyncSource } from '../../src/worker/sources/sync-job.ts';
import { serveOne } from '../worker/queue/serve-one.ts';

export interface BusyProcessOptions {
  readonly role: 'worker' | 'foreground';
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
  readonly apiUrl: string;
  readonly secret: string;
  readonly rateLimit: string;
  readonly timings: Partial<Timings>;
  readonly claimMs: number;
  readonly usableMs: number;
}

const given: BusyProcessOptions = JSON.parse(process.argv[2] ?? '');
const { databaseUrl, redisUrl, usableMs } = given;
/** Long: a program that counts a request after its sender has given up is not what is tested here. */
const TIMEOUT_MS = 10_000;
const log = makeLogger('info');
const pool = makePool({ log }, { url: databaseUrl, schema: 'mirror', max: 10, applicationName: given.role });
const db = makeDatabase(pool);
const rateLimit = readRateLimit(given.rateLimit) ?? null;
const timing = { claimMs: given.claimMs, firstBackoffMs: 50 };

function makeClient(priority: Priority) {
  const takePermit = makeTakePermit(
    { db, log },
    { rateLimit, priority, requestTimeoutMs: TIMEOUT_MS, usableMs },
  );
  return makeApiClient(
    { takePermit, log },
    { url: given.apiUrl, secret: given.secret, timeoutMs: TIMEOUT_MS },
  );
}

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort(new Error('SIGTERM')));
const api = makeClient('payments');

if (given.role === 'worker') {
  const reader = makeClient('reads');
  const timings = { ...TIMINGS, ...given.timings };
  const schedules = makeSchedules({ full: '*/3 * * * * *', delta: null, timezone: 'UTC' });
  const worker = await serveOne(
    {
      db,
      log,
      probe: async () => {},
    },
    {
      queue: { redisUrl, databaseUrl, mirrorSchema: 'mirror' },
      sources: [
        makeSyncSource({ api: reader, db, log }, { schedules }, timings),
        makeCommissionsSource({ api, db, log }, { concurrency: 4, timing }),
      ],
      timings: given.timings,
    },
  );
  await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
  await worker.stop();
  await reader.close();
} else {
  log.info('worker.started');
  while (!stop.signal.aborted) {
    const { rows } = await pool.query<{ id: number }>(
      `select id from commission_updates where state = 'pending' order by id limit 20`,
    );
    await sleep(20);
    const ids = rows.map(({ id }) => id);
    await awaitUpdates({ api, db, log }, ids, { concurrency: 4, signal: stop.signal, timing }).catch(
      (error: unknown) => {
        // A database that closed its connection ends the command; a person would start it again.
        if (!stop.signal.aborted) log.warn({ err: error }, 'foreground.ended');
      },
    );
  }
}
await api.close();
await pool.end();
