// A program of which one list fails, through a running worker: the other lists are synced, and the one that fails is
// asked for no more often than its backoff says.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeApiClient } from '../../src/api/client.ts';
import { probeProgram } from '../../src/jobs/probe-program.ts';
import { makeSchedules, makeSyncSource } from '../../src/jobs/sync-job.ts';
import { makeLogger } from '../../src/log.ts';
import type { Probe } from '../../src/queue/program-watch.ts';
import { startWorker } from '../../src/queue/start-worker.ts';
import { TIMINGS } from '../../src/queue/timings.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { DAILY, makeQueueing, missTick, type Queueing } from '../queue/queueing.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { FRONT_ANSWERS } from '../support/front-answers.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';

const log = makeLogger('fatal');
const ENDLESS = Number.POSITIVE_INFINITY;
const timings = {
  ...TIMINGS,
  ...{ stepAsideMs: 10, firstBackoffMs: 10, longestBackoffMs: 20 },
  ...{ firstProbeMs: 100, longestProbeMs: 400, lookAgainMs: 20 },
};

let sandbox: TestSandbox;
let queueing: Queueing;

beforeEach(async () => {
  const { pool } = await createTestDatabase();
  sandbox = await runSandbox(pool, { affiliates: 5, referrals: 40, optionalLists: ['commissions'] });
  queueing = await makeQueueing('postgres', sandbox);
  await missTick(queueing);
  await queueing.pool.query(
    `update optional_lists set is_served = true, found_at = now(), found_by = 'test' where resource = 'commissions'`,
  );
  return () => sandbox.close();
});

let close: () => Promise<void>;

afterEach(() => close());

/** Starts a worker that gives a job up after so many attempts. */
async function start(
  mostAttempts = TIMINGS.mostAttempts,
  { url }: { url: string } = sandbox,
  givenProbe?: Probe,
): Promise<void> {
  const { db, settings } = queueing;
  const { takePermit } = makeUnlimitedPermits();
  const attempts = { most: 1, mostThrottled: 1 };
  const program = { url, secret: SECRET, timeoutMs: 2000, attempts };
  const api = makeApiClient({ takePermit, log }, program);
  const schedules = makeSchedules({ full: DAILY, delta: DAILY, timezone: 'UTC' });
  const duty = makeSyncSource({ api, db, log }, { schedules }, timings);
  const worker = await startWorker(
    { db, log, probe: givenProbe ?? ((signal) => probeProgram({ api, db }, signal)) },
    { queue: settings, sources: [duty], timings: { ...timings, mostAttempts } },
  );
  close = async () => {
    await worker.stop();
    await api.close();
  };
}

const failing = (route: string) => ({ kind: '5xx', route, times: ENDLESS }) as const;
const failed = () => sandbox.requests.filter(({ fault }) => fault === '5xx').length;

async function synced(): Promise<string[]> {
  const { rows } = await queueing.pool.query<{ run: string }>(
    `select resource || ' ' || mode as run from sync_runs where verified order by 1`,
  );
  return rows.map(({ run }) => run);
}

test.each([
  ['affiliates', ['commissions', 'referrals']],
  ['referrals', ['affiliates', 'commissions']],
  ['commissions', ['affiliates', 'referrals']],
])(
  'while the list of %s fails, the others are synced, and it is once it answers again',
  async (one, others) => {
    sandbox.setFaults({ shares: {}, exact: [failing(`/v1/${one}`)] });
    await start();
    await expect.poll(synced).toEqual(others.map((other) => `${other} full`));
    const soFar = failed();
    await expect.poll(failed).toBeGreaterThan(soFar + 3);
    sandbox.setFaults(NO_FAULTS);
    await expect.poll(synced).toEqual(['affiliates full', 'commissions full', 'referrals full']);
    expect(await readMirror(queueing.pool)).toEqual(await readProgram(sandbox));
  },
);

test('while two lists fail, the third is synced', async () => {
  sandbox.setFaults({ shares: {}, exact: [failing('/v1/affiliates'), failing('/v1/referrals')] });
  await start();
  await expect.poll(synced).toEqual(['commissions full']);
});

test('a list that fails costs one attempt each time it is asked for, and is given up with the last one', async () => {
  sandbox.setFaults({ shares: {}, exact: [failing('/v1/affiliates')] });
  await start(3, sandbox, async () => {});
  const { queue, close: closeQueue } = await queueing.open();
  const givenUp = async () => (await queue.getFailed()).map(({ id, attemptsMade }) => [id, attemptsMade]);
  // The full sync, and then the delta.
  await expect.poll(givenUp).toEqual([
    [expect.stringContaining('sync-affiliates-delta'), 3],
    [expect.stringContaining('sync-affiliates-full'), 3],
  ]);
  await closeQueue();
  expect(failed()).toBe(6);
  const { rows } = await queueing.pool.query(
    `select state, error_code from sync_runs where resource = 'affiliates'`,
  );
  expect(rows).toContainEqual({ state: 'failed', error_code: 'API_UNAVAILABLE' });
});

test('a program that answers nothing is asked for one list, and then by one probe at a time, ever less often', async () => {
  sandbox.setFaults({ shares: { '5xx': 1 }, exact: [] });
  await start(1);
  const probes = async () => {
    const { rows } = await queueing.pool.query<{ probes: number; wait: number }>(
      'select probes, round(extract(epoch from next_probe_at - probed_at) * 10)::int * 100 as wait from worker_state',
    );
    return rows[0];
  };
  await expect.poll(probes, { interval: 10 }).toEqual({ probes: 2, wait: 200 });
  await expect.poll(async () => (await probes())?.probes).toBeGreaterThan(4);
  expect(await probes()).toMatchObject({ wait: 400 });
  const { rows } = await queueing.pool.query('select resource, state from sync_runs');
  expect(rows).toEqual([{ resource: 'affiliates', state: 'failed' }]);
  const { queue, close: closeQueue } = await queueing.open();
  // Though a job has one attempt.
  expect(await queue.getJobCounts('failed', 'active', 'prioritized')).toEqual({
    failed: 0,
    active: 0,
    prioritized: 0,
  });
  sandbox.setFaults(NO_FAULTS);
  await expect.poll(synced).toEqual(['affiliates full', 'commissions full', 'referrals full']);
  await closeQueue();
});

test.each(FRONT_ANSWERS)(
  'while what is in front of the program %s, a sync waits, and is done once it is back',
  async (_what, away) => {
    let answers = 0;
    const front = await startAlteringProxy(sandbox.url, (body) => {
      answers += 1;
      return answers <= 6 ? away : body;
    });
    await start(TIMINGS.mostAttempts, front);
    await expect.poll(synced).toEqual(['affiliates full', 'commissions full', 'referrals full']);
    const { rows } = await queueing.pool.query(
      `select distinct error_code from sync_runs where state = 'failed'`,
    );
    expect(rows).toEqual([{ error_code: 'API_REJECTED' }]);
    await front.close();
  },
);

test('what the program itself refuses is given up at once', async () => {
  const front = await startAlteringProxy(sandbox.url, () => ({ status: 403, body: '{"error":"Forbidden"}' }));
  await start(TIMINGS.mostAttempts, front);
  const { queue, close: closeQueue } = await queueing.open();
  await expect.poll(() => queue.getFailedCount()).toBe(6);
  expect((await queue.getFailed()).map(({ attemptsMade }) => attemptsMade)).toEqual([1, 1, 1, 1, 1, 1]);
  await closeQueue();
  await front.close();
});
