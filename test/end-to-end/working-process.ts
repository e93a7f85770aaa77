// A process that does affiliate-mirror's work, and may kill or stop itself at a point of it: one sync, or a worker as
// the command `work` puts it together, which runs until SIGTERM.

import { type ApiClient, makeApiClient } from '../../src/api/client.ts';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { Priority } from '../../src/budget/waits.ts';
import { readRateLimit } from '../../src/config/program/rate-limit.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { listen } from '../../src/db/locks/process-session.ts';
import { COMMISSION_UPDATES_CHANNEL } from '../../src/payments/ask/request-updates.ts';
import type { WriterTiming } from '../../src/payments/write/apply-updates.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import type { Timings } from '../../src/worker/queue/timings.ts';
import { makeCommissionsSource } from '../../src/worker/sources/commissions-job.ts';
import { type Interruption, interruptSelf } from '../support/interrupt-self.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { serveOne } from '../worker/queue/serve-one.ts';

export interface WorkingOptions {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly secret: string;
  readonly timeoutMs: number;
  /** Null: no budget at all. Without one, a 429 that names no time pauses no other request for half a minute. */
  readonly rateLimit: string | null;
  readonly work: SyncWork | WorkerWork;
  readonly interruption?: Interruption;
}

interface SyncWork {
  readonly kind: 'sync';
  readonly resource: ListedResource;
}

interface WorkerWork {
  readonly kind: 'worker';
  readonly redisUrl: string | null;
  readonly timings: Partial<Timings>;
  readonly timing: Partial<WriterTiming>;
}

/** What every load of pages does and nothing else; its transaction ends with the next commit. */
const LOADS = 'insert into seen_rows';

const given: WorkingOptions = JSON.parse(process.argv[2] ?? '');
const { databaseUrl, timeoutMs, work } = given;
const pages = makePages();
interruptSelf(given.interruption ?? { signal: 'SIGKILL', point: Number.POSITIVE_INFINITY }, pages.note);
const log = makeLogger(work.kind === 'worker' ? 'info' : 'fatal');
const pool = makePool({ log }, { url: databaseUrl, schema: 'mirror', max: 8, applicationName: 'working' });
const db = makeDatabase(pool);

function makeClient(priority: Priority): ApiClient {
  const rateLimit = readRateLimit(given.rateLimit ?? 'none') ?? null;
  const takePermit =
    given.rateLimit === null
      ? makeUnlimitedPermits().takePermit
      : makeTakePermit({ db, log }, { rateLimit, priority, requestTimeoutMs: timeoutMs });
  return makeApiClient({ takePermit, log }, { url: given.apiUrl, secret: given.secret, timeoutMs });
}

/**
 * Returns a way to ask for no page before the one before is committed: each is a batch of its own then, and there are
 * many points to interrupt it.
 */
function makePages() {
  let isLoading = false;
  let toLoad = 0;
  let loaded = Promise.withResolvers<void>();
  return {
    note(statement: string | null) {
      isLoading ||= statement?.includes(LOADS) === true;
      if (statement !== null && (!isLoading || statement !== 'commit')) return;
      isLoading = false;
      // After a failure the run ends.
      toLoad = statement === null ? 0 : toLoad - 1;
      loaded.resolve();
    },
    oneByOne: ({ list, ...others }: ApiClient): ApiClient => ({
      ...others,
      async list(resource, query, options) {
        while (toLoad > 0) {
          loaded = Promise.withResolvers();
          await loaded.promise;
        }
        toLoad += 1;
        return list(resource, query, options);
      },
    }),
  };
}

const api = makeClient('payments');
if (work.kind === 'sync') {
  const { resource } = work;
  await runSync({ api: pages.oneByOne(api), db, log }, { resource, mode: 'full', acceptDeletes: true });
} else {
  await runWorker(work);
}
await api.close();
await pool.end();

async function runWorker({ redisUrl, timings, timing }: WorkerWork): Promise<void> {
  // The test has ended: nothing else would stop this process.
  process.once('disconnect', () => process.exit(1));
  const stopped = Promise.withResolvers<void>();
  process.once('SIGTERM', stopped.resolve);
  const reader = makeClient('reads');
  const probe = async (signal: AbortSignal) => {
    await reader.list('affiliates', { page: 1, limit: 1 }, { signal });
  };
  const worker = await serveOne(
    { db, log, probe },
    {
      queue: { redisUrl, databaseUrl, mirrorSchema: 'mirror' },
      sources: [makeCommissionsSource({ api, db, log }, { concurrency: 24, timing })],
      timings,
    },
  );
  const over = new AbortController();
  const input = { channel: COMMISSION_UPDATES_CHANNEL, payload: 'mirror', onNotified: worker.wake };
  const listening = listen(db, input, over.signal);
  await stopped.promise;
  process.removeAllListeners('disconnect');
  process.disconnect?.();
  await worker.stop();
  over.abort();
  await listening;
  await reader.close();
}
