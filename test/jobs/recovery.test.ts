// What may happen in the middle of a run, on both queues: whatever it is, the run ends, once, and the tables equal the
// program's.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makePool } from '../../src/db/pool.ts';
import { JOBS, wantSync } from '../../src/jobs/catalogue.ts';
import { enqueue } from '../../src/jobs/enqueue.ts';
import { wantJobs } from '../../src/jobs/wanted-jobs.ts';
import { makeLogger } from '../../src/log.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import type { TestSandbox } from '../sandbox/running-sandbox.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { countEvery, KINDS, makeProgram, makeQueueing, PROGRAM, type Queueing } from './queueing.ts';
import type { WorkerProcess } from './worker-processes.ts';

/** Slow enough to be met in mid-run: 24 requests in about two seconds. */
const SLOWLY = '4/0.3';
const PAGES = PROGRAM.referrals / 100;
const REQUESTS = PAGES + 1 + 2;

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

beforeEach(() => {
  sandbox.setFaults(NO_FAULTS);
});

afterAll(() => sandbox.close());

async function wantFullSync(queueing: Queueing): Promise<void> {
  const jobs = await queueing.db
    .transaction()
    .execute((trx) => wantJobs(trx, JOBS, wantSync('full', ['affiliates', 'referrals'])));
  const backend = await queueing.open();
  for (const job of jobs) await enqueue(backend.queue, JOBS, job);
  await backend.close();
}

interface Run {
  readonly resource: string;
  readonly state: string;
  readonly attempt: number;
  readonly error_code: string | null;
}

async function readRuns({ pool }: Queueing): Promise<Run[]> {
  const { rows } = await pool.query<Run>(
    'select resource, state, attempt, error_code from sync_runs order by id',
  );
  return rows;
}

async function waitForBothRuns(queueing: Queueing): Promise<void> {
  const states = () =>
    readRuns(queueing)
      .then((runs) => runs.filter(({ state }) => state !== 'skipped'))
      .then((runs) => runs.map(({ resource, state }) => `${resource} ${state}`))
      // While Postgres is away, nobody knows.
      .catch(() => []);
  await expect
    .poll(states, { timeout: 30_000, interval: 50 })
    .toEqual(['affiliates succeeded', 'referrals succeeded']);
  await expect
    .poll(() => queueing.pool.query('select from wanted_jobs').then(({ rows }) => rows.length), {
      timeout: 10_000,
    })
    .toBe(0);
}

/** Gives back how many requests came since the call. */
function countRequests(): () => number {
  const before = sandbox.requests.length;
  return () => sandbox.requests.length - before;
}

async function waitForMidRun(requests: () => number): Promise<void> {
  await expect.poll(requests, { timeout: 20_000, interval: 10 }).toBeGreaterThan(8);
}

async function expectMirrored({ pool }: Queueing): Promise<void> {
  expect(await readMirror(pool)).toEqual(await readProgram(sandbox));
}

function holderOf(workers: readonly WorkerProcess[]): WorkerProcess {
  const holder = workers.find((worker) =>
    worker.said('sync.started').some(({ resource }) => resource === 'referrals'),
  );
  if (holder === undefined) throw new Error('nobody syncs referrals');
  return holder;
}

describe.each(KINDS)('a run in the middle, on %s', { timeout: 60_000 }, (kind) => {
  test('whose worker is killed is taken over, re-reading the head and at most one page', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const workers = [
      await queueing.start({ rateLimit: SLOWLY }),
      await queueing.start({ rateLimit: SLOWLY }),
    ];
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(requests);
    await holderOf(workers).end('SIGKILL');
    await waitForBothRuns(queueing);
    // The head once more, the page that was being loaded, and the request that was in flight.
    expect(requests()).toBeLessThanOrEqual(REQUESTS + 3);
    expect((await readRuns(queueing))[1]).toMatchObject({ resource: 'referrals', attempt: 2 });
    await expectMirrored(queueing);
  });

  test('whose worker is told to stop goes back to the queue at once, and costs no attempt', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const first = await queueing.start({ rateLimit: SLOWLY });
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(requests);
    const startedMs = performance.now();
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(performance.now() - startedMs).toBeLessThan(2000);
    expect(first.said('job.given_back')).toHaveLength(1);
    expect((await readRuns(queueing))[1]).toMatchObject({ state: 'interrupted' });

    const backend = await queueing.open();
    const id = await backend.queue.getDeduplicationJobId('sync-referrals');
    const job = await backend.queue.getJob(id ?? '');
    expect(job).toMatchObject({ attemptsMade: 0 });
    await backend.close();
    await (await queueing.start()).says('sync.finished');
    await waitForBothRuns(queueing);
    expect(requests()).toBeLessThanOrEqual(REQUESTS + 5);
    await expectMirrored(queueing);
  });

  test('whose worker is frozen loses it, and no work is lost with it', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const workers = [
      await queueing.start({ rateLimit: SLOWLY }),
      await queueing.start({ rateLimit: SLOWLY }),
    ];
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(requests);
    const frozen = holderOf(workers);
    const other = workers.find((worker) => worker !== frozen);
    frozen.send('SIGSTOP');
    // Its lock in Postgres stands while its connection does: the other one waits for it, and loses no work.
    await other?.says('sync.skipped');
    frozen.send('SIGCONT');
    await frozen.says('job.lock_lost');
    await expect
      .poll(
        () => readRuns(queueing).then((runs) => runs.filter(({ state }) => state === 'succeeded').length),
        {
          timeout: 30_000,
        },
      )
      .toBeGreaterThanOrEqual(2);
    await expectMirrored(queueing);
  });

  test('outlives a program that answers 5xx, then 429, and asks it no more often than the backoff says', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const worker = await queueing.start({ rateLimit: SLOWLY });
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(requests);
    sandbox.setFaults({ shares: { '5xx': 1 }, exact: [] });
    const duringOutage = countRequests();
    await worker.says('job.failed_for_now', 3);
    // Two tries of each attempt, and the one under way.
    const attempts = worker.said('job.failed_for_now').length;
    expect(duringOutage()).toBeLessThanOrEqual(2 * attempts + 2);
    sandbox.setFaults({ shares: { '429': 1 }, exact: [] });
    await worker.says('job.waits', 2);
    const [failed] = (await readRuns(queueing)).slice(1);
    expect(failed).toMatchObject({ state: 'failed', error_code: 'API_THROTTLED' });
    sandbox.setFaults(NO_FAULTS);
    await waitForBothRuns(queueing);
    expect((await readRuns(queueing))[1]?.attempt).toBeGreaterThan(4);
    await expectMirrored(queueing);
  });

  test('outlives a restart of Postgres, without a restart of its own', async () => {
    const postgres = await startOwnPostgres();
    const pool = makePool(
      { log: makeLogger('fatal') },
      { url: postgres.url, schema: 'mirror', max: 2, applicationName: 'test' },
    );
    const queueing = await makeQueueing(kind, sandbox, { url: postgres.url, pool });
    const worker = await queueing.start({
      rateLimit: SLOWLY,
      schedules: [countEvery('a', '*/2 * * * * *')],
    });
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(requests);
    await postgres.stop();
    await worker.says('job.failed_for_now').catch(() => undefined);
    await postgres.start();
    await waitForBothRuns(queueing);
    await expectMirrored(queueing);
    const { rows } = await pool.query('select count(*) from counted');
    await expect
      .poll(() => pool.query('select count(*) from counted').then((answer) => answer.rows[0].count), {
        timeout: 10_000,
      })
      .toBeGreaterThan(rows[0].count);
    expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
    await pool.end();
  });
});

describe('a run in the middle, on redis', { timeout: 60_000 }, () => {
  test.each(['with all that it kept', 'empty'])('outlives a Redis that is restarted %s', async (how) => {
    const queueing = await makeQueueing('redis', sandbox);
    const { redis, pool } = queueing;
    const worker = await queueing.start({
      rateLimit: SLOWLY,
      schedules: [countEvery('a', '*/2 * * * * *'), countEvery('daily', '0 3 * * *')],
    });
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(requests);
    await redis?.stop();
    if (how === 'empty') await redis?.wipe();
    await redis?.start();
    await waitForBothRuns(queueing);
    await expectMirrored(queueing);
    const counts = () => pool.query('select count(*) from counted').then(({ rows }) => rows[0].count);
    const soFar = await counts();
    await expect.poll(counts, { timeout: 10_000 }).toBeGreaterThan(soFar + 1);
    const backend = await queueing.open();
    expect((await backend.queue.getJobSchedulers()).map(({ key }) => key).toSorted()).toEqual(['a', 'daily']);
    await backend.close();
    expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
  });
});
