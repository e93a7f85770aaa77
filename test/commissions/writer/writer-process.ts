// A worker process that applies commission updates and nothing else, as the command `work` puts it together.
// Started by writer-processes.ts; logs to stderr.

import { makeApiClient } from '../../../src/api/client.ts';
import { makeTakePermit } from '../../../src/budget/shared-budget.ts';
import type { DrainTiming } from '../../../src/commissions/writer/drain-updates.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { makePool } from '../../../src/db/pool.ts';
import { makeCommissionsSource, wakeForCommissions } from '../../../src/jobs/commissions-job.ts';
import { makeLogger } from '../../../src/log.ts';
import { startWorker } from '../../../src/queue/start-worker.ts';
import type { Timings } from '../../../src/queue/timings.ts';
import { makeUnlimitedPermits } from '../../support/unlimited-permits.ts';

export interface WriterProcessOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
  readonly apiUrl: string;
  readonly secret: string;
  /** Without a budget, a 429 that names no time pauses nobody for half a minute. */
  readonly hasBudget: boolean;
  readonly timings: Partial<Timings>;
  readonly drain: Partial<DrainTiming>;
}

const given: WriterProcessOptions = JSON.parse(process.argv[2] ?? '');
const { databaseUrl, redisUrl, timings } = given;
const log = makeLogger('info');
const pool = makePool({ log }, { url: databaseUrl, schema: 'mirror', max: 8, applicationName: 'writer' });
const db = makeDatabase(pool);
const takePermit = given.hasBudget
  ? makeTakePermit({ db, log }, { rateLimit: null, priority: 'payments', requestTimeoutMs: 1000 })
  : makeUnlimitedPermits().takePermit;
const api = makeApiClient({ takePermit, log }, { url: given.apiUrl, secret: given.secret, timeoutMs: 1000 });

// It says that it has started before this process can go on: a signal may come by then.
const starting = startWorker(
  {
    db,
    log,
    probe: async (signal) => {
      await api.list('affiliates', { page: 1, limit: 1 }, { signal });
    },
  },
  {
    queue: { redisUrl, databaseUrl, mirrorSchema: 'mirror' },
    sources: [makeCommissionsSource({ api, db, log }, { concurrency: 24, timing: given.drain })],
    timings,
  },
);
const over = new AbortController();
const listening = starting.then((worker) =>
  wakeForCommissions({ worker, pool, log }, { mirrorSchema: 'mirror' }, over.signal),
);

// The test has ended: nothing else would stop this process.
process.once('disconnect', () => process.exit(1));

process.once('SIGTERM', async () => {
  process.removeAllListeners('disconnect');
  process.disconnect?.();
  await (await starting).stop();
  over.abort();
  await listening;
  await api.close();
  await pool.end();
});
