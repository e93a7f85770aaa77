// What may happen in the middle of a run, on both queues: whatever it is, the run ends, once, and the tables equal the
// program's.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { NO_FAULTS } from '../../../src/sandbox/fault-plan.ts';
import type { TestSandbox } from '../../sandbox/running-sandbox.ts';
import { readMirror, readProgram } from '../../support/compare-with-program.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
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

/** So many pages of referrals are answered; what happens to the run happens while it waits for the next one. */
const PAGES_BEFORE = 8;
const PAGES = PROGRAM.referrals / 100;
const REQUESTS = PAGES + 1 + 2;

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

beforeEach(holdMidRun);

async function readRuns({ pool }: Queueing) {
  const { rows } = await pool.query<{ resource: string; state: string }>(
    'select resource, state from sync_runs order by id',
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
function holdMidRun(): void {
  const endless = Number.POSITIVE_INFINITY;
  sandbox.setFaults({
    shares: {},
    exact: [{ kind: 'stall', route: '/v1/referrals', after: PAGES_BEFORE, times: endless }],
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

describe.each(KINDS)('a run in the middle, on %s', (kind) => {
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
