// A program of which one list fails, through a running worker: the other lists are synced, and the one that fails is
// asked for no more often than its backoff says.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeApiClient } from '../../../src/api/client.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { NO_FAULTS } from '../../../src/sandbox/fault-plan.ts';
import { TIMINGS } from '../../../src/worker/queue/timings.ts';
import { probeProgram } from '../../../src/worker/sources/probe-program.ts';
import { makeSchedules, makeSyncSource } from '../../../src/worker/sources/sync-job.ts';
import { runSandbox, SECRET, type TestSandbox } from '../../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../../support/altering-proxy.ts';
import { readMirror, readProgram } from '../../support/compare-with-program.ts';
import { createTestDatabase } from '../../support/database.ts';
import { FRONT_ANSWERS } from '../../support/front-answers.ts';
import { makeUnlimitedPermits } from '../../support/unlimited-permits.ts';
import { DAILY, makeQueueing, missTick, type Queueing } from '../queue/queueing.ts';
import { serveOne } from '../queue/serve-one.ts';

const log = makeLogger('fatal');
const ENDLESS = Number.POSITIVE_INFINITY;
const timings = {
  ...TIMINGS,
  ...{ handBackMs: 10, firstBackoffMs: 10, longestBackoffMs: 20 },
  ...{ firstProbeMs: 100, longestProbeMs: 400, compareAgainMs: 20 },
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
});

let close: () => Promise<void>;

afterEach(() => close());

async function start({ url }: { url: string } = sandbox): Promise<void> {
  const { db, settings } = queueing;
  const { takePermit } = makeUnlimitedPermits();
  const attempts = { most: 1, mostThrottled: 1 };
  const program = { url, secret: SECRET, timeoutMs: 2000, attempts };
  const api = makeApiClient({ takePermit, log }, program);
  const schedules = makeSchedules({ full: DAILY, delta: DAILY, timezone: 'UTC' });
  const duty = makeSyncSource({ api, db, log }, { schedules }, timings);
  const worker = await serveOne(
    { db, log, probe: (signal) => probeProgram({ api, db }, signal) },
    { queue: settings, sources: [duty], timings },
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

test.each(FRONT_ANSWERS)(
  'while what is in front of the program %s, a sync waits, and is done once it is back',
  async (_what, away) => {
    let answers = 0;
    const front = await startAlteringProxy(sandbox.url, (body) => {
      answers += 1;
      return answers <= 6 ? away : body;
    });
    await start(front);
    await expect.poll(synced).toEqual(['affiliates full', 'commissions full', 'referrals full']);
    const { rows } = await queueing.pool.query(
      `select distinct error_code from sync_runs where state = 'failed'`,
    );
    expect(rows).toEqual([{ error_code: 'API_REJECTED' }]);
    await front.close();
  },
);
