// What the queue itself costs: jobs that do nothing, on both of its servers. Each figure is the rate at which one
// worker in this process ends jobs that were all added before it started. Three ways, each on a database of its own:
//   bare BullMQ    its Queue and Worker as they come, with the concurrency of our worker;
//   our queue      the room src/queue: jobs as enqueue() makes them (one to a key, retried, the last thousand kept),
//                  on the worker's connections and with its options; the processor returns at once;
//   wanted_jobs    the same jobs with their rows, and the worker's own processor, whose handler does nothing: the row
//                  is looked up, deleted since its work is done, and looked for once more.
// The first ratio is what our options of BullMQ cost, the second what a job costs that cannot be lost. Not measured:
// adding jobs, schedules, the watchdog, and how soon an idle worker takes up a job.

import {
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type Processor,
  runMigrations,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { JOBS } from '../../src/jobs/catalogue.ts';
import { makeLogger } from '../../src/log.ts';
import {
  migrateQueue,
  openQueue,
  type QueueSettings,
  type QueueWorker,
  type WorkQueue,
} from '../../src/queue/backend.ts';
import { enqueue } from '../../src/queue/enqueue.ts';
import { backoffMs } from '../../src/queue/failure.ts';
import { makeProcessJob } from '../../src/queue/process-job.ts';
import { TIMINGS } from '../../src/queue/timings.ts';
import { type WantedJob, wantJobs } from '../../src/queue/wanted-jobs.ts';
import { type BenchDatabase, SCHEMA } from './bench-database.ts';
import type { BenchDeps } from './measure-round.ts';

export interface QueueSizes {
  readonly jobs: number;
  readonly repetitions: number;
}

interface Bench {
  readonly database: BenchDatabase;
  readonly redisUrl: string | null;
  readonly jobs: readonly WantedJob[];
  /** No other queue of the same server has this name. */
  readonly name: string;
}

/** As src/queue/start-worker.ts gives them to the worker. */
const CONCURRENCY = 4;
const OPTIONS: Omit<WorkerOptions, 'connection'> = {
  concurrency: CONCURRENCY,
  lockDuration: TIMINGS.lockDurationMs,
  stalledInterval: TIMINGS.stalledIntervalMs,
  maxStalledCount: 10,
  drainDelay: TIMINGS.drainDelayMs / 1000,
  runRetryDelay: TIMINGS.runRetryMs,
  settings: { backoffStrategy: (attemptsMade) => backoffMs(attemptsMade, TIMINGS) },
};
/** As src/cli/open-database.ts gives the command's pool. */
const POOL_CONNECTIONS = 8;
const NO_OP = 'no-op';
const KINDS = { [NO_OP]: JOBS['poll-commissions'] };
const BARE_SCHEMA = 'bare_queue';
const LONGEST_WAIT_MS = 120_000;

const log = makeLogger('error');

/** Without a Redis, nothing is measured on it. */
export async function measureQueue(
  deps: BenchDeps,
  { jobs: count, repetitions }: QueueSizes,
  redisUrl: string | null,
): Promise<void> {
  const { postgres, figures, say } = deps;
  const jobs = Array.from({ length: count }, (_, number) => ({
    key: `${NO_OP}-${number}`,
    name: NO_OP,
    payload: {},
  }));
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
      const wanted = await measure(measureWanted, url);
      figures.add(`no-op jobs, bare BullMQ on ${server}`, 'jobs/s', bare);
      figures.add(`no-op jobs, our queue on ${server}`, 'jobs/s', ours);
      figures.add(`our queue ÷ bare BullMQ on ${server}`, '×', ours / bare);
      figures.add(`no-op jobs through wanted_jobs, queue on ${server}`, 'jobs/s', wanted);
      figures.add(`through wanted_jobs ÷ bare BullMQ on ${server}`, '×', wanted / bare);
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
  await queue.addBulk(jobs.map(({ key }) => ({ name: NO_OP, data: { key } })));
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
  return measureQueued(bench, () => async (_job, _token, _signal) => undefined);
}

async function measureWanted(bench: Bench): Promise<number> {
  const settings = {
    url: bench.database.url,
    schema: SCHEMA,
    max: POOL_CONNECTIONS,
    applicationName: 'bench',
  };
  const pool = makePool({ log }, settings);
  const db = makeDatabase(pool);
  await db.transaction().execute((trx) => wantJobs(trx, KINDS, bench.jobs));
  const perSecond = await measureQueued(bench, (queue) => {
    const handlers = { [NO_OP]: async () => ({ kind: 'done', result: {} }) as const };
    const deps = { db, log, queue, handlers, kinds: KINDS, schedules: [], pause: async () => undefined };
    return makeProcessJob(deps, TIMINGS);
  });
  const left = await pool.query('select from wanted_jobs');
  await pool.end();
  if (left.rowCount !== 0) throw new Error(`${left.rowCount} jobs are still wanted`);
  return perSecond;
}

async function measureQueued(
  { database, redisUrl, jobs, name }: Bench,
  makeProcessor: (queue: WorkQueue) => Processor,
): Promise<number> {
  const settings: QueueSettings = { redisUrl, databaseUrl: database.url, mirrorSchema: SCHEMA };
  await migrateQueue(database.pool, settings);
  const backend = await openQueue({ log }, settings, name);
  for (const job of jobs) await enqueue(backend.queue, KINDS, job);
  const worker = await backend.makeWorker(makeProcessor(backend.queue), OPTIONS);
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
