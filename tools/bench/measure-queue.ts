// What the queue itself costs: jobs that do nothing, on both of its servers. Each figure is the rate at which one
// worker in this process ends jobs that were all added before it started. Three ways, each on a database of its own:
//   bare BullMQ    its Queue and Worker as they come, with the concurrency of our worker;
//   our queue      the room src/worker/queue: jobs as ensureJob() makes them (one to a duty, retried, gone when they are done),
//                  on the worker's connections and with its options; the processor returns at once;
//   sources         the same jobs with the worker's own processor: each asks Postgres what is due, and does nothing.
// The first ratio is what our options of BullMQ cost, the second what a job costs that cannot be lost. Not measured:
// adding jobs, schedules, the rounds, and how soon an idle worker takes up a job.

import {
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type Processor,
  runMigrations,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { addDue } from '../../src/worker/queue/add-due.ts';
import type { QueueWorker } from '../../src/worker/queue/backend.ts';
import { openQueue } from '../../src/worker/queue/backend.ts';
import { makeDueItems } from '../../src/worker/queue/due-items.ts';
import { backoffMs } from '../../src/worker/queue/failure.ts';
import { type JobSource, PRIORITY } from '../../src/worker/queue/job-source.ts';
import { makeProcessJob } from '../../src/worker/queue/process-job.ts';
import { migrateQueue, type QueueSettings } from '../../src/worker/queue/queue-tables.ts';
import { TIMINGS } from '../../src/worker/queue/timings.ts';
import { readMoment } from '../../src/worker/queue/worker-state.ts';
import { type BenchDatabase, SCHEMA } from './bench-database.ts';
import type { BenchDeps } from './measure-round.ts';

export interface QueueSizes {
  readonly jobs: number;
  readonly repetitions: number;
}

interface Bench {
  readonly database: BenchDatabase;
  readonly redisUrl: string | null;
  /** Of the sources, each with one job. */
  readonly jobs: readonly string[];
  /** No other queue of the same server has this name. */
  readonly name: string;
}

/** As src/worker/queue/start-worker.ts gives them to the worker. */
const CONCURRENCY = 20;
const OPTIONS: Omit<WorkerOptions, 'connection'> = {
  concurrency: CONCURRENCY,
  lockDuration: TIMINGS.lockDurationMs,
  stalledInterval: TIMINGS.stalledIntervalMs,
  maxStalledCount: 1_000_000,
  drainDelay: TIMINGS.drainDelayMs / 1000,
  runRetryDelay: TIMINGS.runRetryMs,
  settings: { backoffStrategy: (attemptsMade) => backoffMs(attemptsMade, TIMINGS) },
};
/** As src/cli/commands/sync.ts gives the command's pool. */
const POOL_CONNECTIONS = 8;
const NO_OP = 'no-op';
const SOURCE = 'bench';
const DONE = { kind: 'done' } as const;
const BARE_SCHEMA = 'bare_queue';
/** Of bare BullMQ's rate, with the worker's own processor. */
const LEAST_SHARE = 0.7;
const LONGEST_WAIT_MS = 120_000;

const log = makeLogger('error');

/** Without a Redis, nothing is measured on it. */
export async function measureQueue(
  deps: BenchDeps,
  { jobs: count, repetitions }: QueueSizes,
  redisUrl: string | null,
): Promise<void> {
  const { postgres, figures, say } = deps;
  const jobs = Array.from({ length: count }, (_, number) => `${NO_OP}-${number}`);
  let measured = 0;
  const measure = async (way: (bench: Bench) => Promise<number>, url: string | null) => {
    const database = await postgres.createDatabase();
    const perSecond = await way({ database, redisUrl: url, jobs, name: `bench-${++measured}` });
    await database.drop();
    return perSecond;
  };
  for (const url of redisUrl === null ? [null] : [null, redisUrl]) {
    const server = url === null ? 'Postgres' : 'Redis';
    for (let repetition = 1; repetition <= repetitions; repetition += 1) {
      say(`${count.toLocaleString('en')} jobs that do nothing on ${server}, ${repetition} of ${repetitions}`);
      const bare = await measure(measureBare, url);
      const ours = await measure(measureOurs, url);
      const asked = await measure(measureSource, url);
      figures.add(`no-op jobs, bare BullMQ on ${server}`, 'jobs/s', bare);
      figures.add(`no-op jobs, our queue on ${server}`, 'jobs/s', ours);
      figures.add(`our queue ÷ bare BullMQ on ${server}`, '×', ours / bare);
      figures.add(`no-op jobs of a source, queue on ${server}`, 'jobs/s', asked);
      figures.add(`of a source ÷ bare BullMQ on ${server}`, '×', asked / bare, { least: LEAST_SHARE });
    }
  }
}

async function measureBare({ database, redisUrl, jobs, name }: Bench): Promise<number> {
  // The two backends' classes differ in type parameters that nothing here needs.
  const { Queue, Worker } = withBackend(
    (redisUrl === null ? createPostgresBackend : createRedisBackend) as unknown as () => IQueueBackend,
  );
  if (redisUrl === null) {
    const client = await database.pool.connect();
    await runMigrations(client, BARE_SCHEMA);
    client.release();
  }
  const connection =
    redisUrl === null
      ? { connectionString: database.url, schema: BARE_SCHEMA }
      : // Without the latter, BullMQ refuses a worker.
        { url: redisUrl, maxRetriesPerRequest: null };
  const queue = new Queue(name, { connection });
  queue.on('error', ignore);
  await queue.addBulk(jobs.map((name) => ({ name, data: { atMs: 1 } })));
  const worker = new Worker(name, async () => undefined, {
    connection,
    concurrency: CONCURRENCY,
    autorun: false,
  });
  worker.on('error', ignore);
  await worker.waitUntilReady();
  const perSecond = await timeAll(worker as unknown as QueueWorker, jobs.length);
  await queue.close();
  return perSecond;
}

function measureOurs(bench: Bench): Promise<number> {
  // Three parameters, as the worker's own has: BullMQ then makes a signal for each job.
  return measureQueued(bench, async (_job, _token, _signal) => undefined);
}

async function measureSource(bench: Bench): Promise<number> {
  const settings = {
    url: bench.database.url,
    schema: SCHEMA,
    max: POOL_CONNECTIONS,
    applicationName: 'bench',
  };
  const pool = makePool({ log }, settings);
  const db = makeDatabase(pool);
  let done = 0;
  const run = async () => {
    done += 1;
    return DONE;
  };
  const source: JobSource = {
    name: SOURCE,
    needsProgram: false,
    schedules: [],
    async findDue() {
      // A question to the database, as every source has one.
      await readMoment(db);
      return bench.jobs.map((id) => ({ id, priority: PRIORITY.upkeep, run }));
    },
  };
  const owner = {
    name: null,
    log,
    sources: [source],
    due: makeDueItems(db),
    watch: { noteRefusal: async () => undefined, isAway: async () => false },
    wake: () => undefined,
  };
  const processJob = makeProcessJob(
    {
      findOwner: () => owner,
      hasSlot: () => true,
      wasGivenUp: async () => false,
    },
    TIMINGS,
  );
  const perSecond = await measureQueued(bench, processJob);
  await pool.end();
  if (done < bench.jobs.length) throw new Error(`${bench.jobs.length - done} jobs were not done`);
  return perSecond;
}

async function measureQueued(
  { database, redisUrl, jobs, name: queueId }: Bench,
  processor: Processor,
): Promise<number> {
  const settings: QueueSettings = { redisUrl, databaseUrl: database.url, mirrorSchema: SCHEMA };
  await migrateQueue(database.pool, settings);
  const backend = await openQueue({ log }, settings, queueId);
  const items = jobs.map((id) => ({ id, priority: PRIORITY.upkeep, run: async () => DONE }));
  await addDue(backend.queue, items, { program: null, name: SOURCE, cause: null, ...TIMINGS });
  const worker = await backend.makeWorker(processor, OPTIONS);
  const perSecond = await timeAll(worker, jobs.length);
  await backend.close();
  return perSecond;
}

/** Runs the worker until it has completed so many jobs, and closes it; returns how many that were per second. */
async function timeAll(worker: QueueWorker, jobs: number): Promise<number> {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let left = jobs;
  worker.on('completed', () => {
    left -= 1;
    if (left === 0) resolve();
  });
  const timer = setTimeout(() => reject(new Error(`${left} of ${jobs} jobs were not done`)), LONGEST_WAIT_MS);
  const startedMs = performance.now();
  worker.run().catch(reject);
  await done;
  const seconds = (performance.now() - startedMs) / 1000;
  clearTimeout(timer);
  await worker.close();
  return jobs / seconds;
}

// On Postgres, BullMQ does not wait for its connections to close: some end with their database. A worker that is stuck
// is found by its time.
function ignore(): void {}
