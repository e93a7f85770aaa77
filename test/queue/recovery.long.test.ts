// What may happen in the middle of a run, on both queues: whatever it is, the run ends, once, and the tables equal the
// program's.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';
import { type FaultKind, NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import type { TestSandbox } from '../sandbox/running-sandbox.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import {
  countEvery,
  DAILY,
  EVERY_SECOND,
  KINDS,
  makeProgram,
  makeQueueing,
  PROGRAM,
  type Queueing,
  wantFullSync,
} from './queueing.ts';
import type { WorkerProcess } from './worker-processes.ts';

/** Both queues share the code that this is about: `npm test` shows it on one, the long tests on the other. */

/** So many pages of referrals are answered; what happens to the run happens while it waits for the next one. */
const PAGES_BEFORE = 8;
const PAGES = PROGRAM.referrals / 100;
const REQUESTS = PAGES + 1 + 2;

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

beforeEach(() => holdMidRun('stall'));

afterAll(() => sandbox.close());

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
      // Not known while Postgres is away.
      .catch(() => []);
  await expect.poll(states, { interval: 50 }).toEqual(['affiliates succeeded', 'referrals succeeded']);
}

/** From the next page of referrals on, until it is taken back: the run is in its middle for as long as it takes. */
function holdMidRun(kind: FaultKind): void {
  const endless = Number.POSITIVE_INFINITY;
  sandbox.setFaults({
    shares: {},
    exact: [{ kind, route: '/v1/referrals', after: PAGES_BEFORE, times: endless }],
  });
}

/** Returns how many requests were answered well since the call. */
function countRequests(): () => number {
  const answered = () =>
    sandbox.requests.filter(({ status, fault }) => status === 200 && fault === null).length;
  const before = answered();
  return () => answered() - before;
}

/** What the pages brought is in the tables, and nothing more comes. */
async function waitForMidRun({ pool }: Queueing): Promise<void> {
  const pages = () =>
    pool
      .query(`select pages from sync_runs where resource = 'referrals' and state = 'running'`)
      .then(({ rows }) => rows[0]?.pages);
  await expect.poll(pages).toBe(PAGES_BEFORE);
}

async function expectMirrored({ pool }: Queueing): Promise<void> {
  expect(await readMirror(pool)).toEqual(await readProgram(sandbox));
}

async function findHolder(workers: readonly WorkerProcess[]): Promise<WorkerProcess> {
  const find = () =>
    workers.find((worker) => worker.said('sync.started').some(({ resource }) => resource === 'referrals'));
  return expect
    .poll(find)
    .toBeDefined()
    .then(() => find() as WorkerProcess);
}

describe.each(KINDS)('a run in the middle, on %s', (kind) => {
  test('whose worker is killed is taken over, re-reading the head and at most one page', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const workers = [await queueing.start(), await queueing.start()];
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(queueing);
    await (await findHolder(workers)).end('SIGKILL');
    sandbox.setFaults(NO_FAULTS);
    await waitForBothRuns(queueing);
    // The head once more, and the page before the checkpoint.
    expect(requests()).toBeLessThanOrEqual(REQUESTS + 2);
    expect((await readRuns(queueing))[1]).toMatchObject({ resource: 'referrals', attempt: 2 });
    await expectMirrored(queueing);
  });

  test('whose worker is stopping goes back to the queue at once, and costs no attempt', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const first = await queueing.start();
    const requests = countRequests();
    await wantFullSync(queueing);
    await waitForMidRun(queueing);
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
    sandbox.setFaults(NO_FAULTS);
    expect(first.said('job.given_back')).toHaveLength(1);
    expect((await readRuns(queueing))[1]).toMatchObject({ state: 'interrupted' });

    const backend = await queueing.open();
    const id = await backend.queue.getDeduplicationJobId('sync-referrals');
    const job = await backend.queue.getJob(id ?? '');
    expect(job).toMatchObject({ attemptsMade: 0 });
    await backend.close();
    await (await queueing.start()).says('sync.finished');
    await waitForBothRuns(queueing);
    expect(requests()).toBeLessThanOrEqual(REQUESTS + 2);
    await expectMirrored(queueing);
  });

  test('whose worker is frozen loses it, and no work is lost with it', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const workers = [await queueing.start(), await queueing.start()];
    await wantFullSync(queueing);
    await waitForMidRun(queueing);
    const frozen = await findHolder(workers);
    const other = workers.find((worker) => worker !== frozen);
    frozen.send('SIGSTOP');
    // Its lock in Postgres holds as long as its connection: the other one waits for it, and loses no work.
    await other?.says('sync.skipped');
    sandbox.setFaults(NO_FAULTS);
    frozen.send('SIGCONT');
    await frozen.says('job.lock_lost');
    await expect
      .poll(() => readRuns(queueing).then((runs) => runs.filter(({ state }) => state === 'succeeded').length))
      .toBeGreaterThanOrEqual(2);
    await expectMirrored(queueing);
  });

  test('outlives a program that answers 5xx, then 429, and asks it no more often than the backoff says', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    holdMidRun('5xx');
    const before = sandbox.requests.length;
    // With a limit, a 429 that names no moment pauses everybody for its window.
    const worker = await queueing.start({ rateLimit: '100/0.3' });
    await wantFullSync(queueing);
    await worker.says('job.failed_for_now', 3);
    sandbox.setFaults({ shares: { '429': 1 }, exact: [] });
    await worker.says('job.put_off', 2);
    const [failed] = (await readRuns(queueing)).slice(1);
    expect(failed).toMatchObject({ state: 'failed', error_code: 'API_THROTTLED' });
    sandbox.setFaults(NO_FAULTS);
    await waitForBothRuns(queueing);
    await worker.says('sync.finished', 2);
    // Two tries of each attempt; one more may have met a 5xx first and a 429 then.
    const attempts = worker.said('job.failed_for_now').length;
    const refusals = sandbox.requests.slice(before).filter(({ fault }) => fault === '5xx');
    expect(refusals.length).toBeLessThanOrEqual(2 * attempts + 1);
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
      counts: [countEvery('a', EVERY_SECOND)],
    });
    await wantFullSync(queueing);
    await waitForMidRun(queueing);
    await postgres.stop();
    await worker.says('db.connection_lost');
    sandbox.setFaults(NO_FAULTS);
    await postgres.start();
    await waitForBothRuns(queueing);
    await expectMirrored(queueing);
    const { rows } = await pool.query('select count(*) from counted');
    await expect
      .poll(() => pool.query('select count(*) from counted').then((answer) => answer.rows[0].count))
      .toBeGreaterThan(rows[0].count);
    expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
    await pool.end();
  });
});

describe('a run in the middle, on redis', () => {
  test.each(['with all that it kept', 'empty'])('outlives a Redis that is restarted %s', async (how) => {
    const queueing = await makeQueueing('redis', sandbox);
    const { redis, pool } = queueing;
    const worker = await queueing.start({
      counts: [countEvery('a', EVERY_SECOND), countEvery('daily', DAILY)],
    });
    await wantFullSync(queueing);
    await waitForMidRun(queueing);
    await redis?.stop();
    if (how === 'empty') await redis?.wipe();
    await redis?.start();
    sandbox.setFaults(NO_FAULTS);
    await waitForBothRuns(queueing);
    await expectMirrored(queueing);
    const counts = () => pool.query('select count(*) from counted').then(({ rows }) => rows[0].count);
    const soFar = await counts();
    await expect.poll(counts).toBeGreaterThan(soFar + 1);
    const backend = await queueing.open();
    expect((await backend.queue.getJobSchedulers()).map(({ key }) => key).toSorted()).toEqual([
      'a',
      'daily',
      'sync-full',
    ]);
    await backend.close();
    expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
  });
});
