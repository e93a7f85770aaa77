// A worker that takes up a run which was stopped long ago: what that one cannot prove, a fresh run does at once.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { makeProgram, makeQueueing, missTick } from '../queue/queueing.ts';
import type { TestSandbox } from '../sandbox/running-sandbox.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

afterAll(() => sandbox.close());

test('a run that is resumed hours later ends unverified, and a fresh run follows at once', async () => {
  const queueing = await makeQueueing('postgres', sandbox);
  const { pool } = queueing;
  await missTick(queueing);
  await pool.query(
    `insert into sync_runs (resource, mode, state, verified, finished_at) values ('affiliates', 'full', 'succeeded', true, now())`,
  );
  sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', after: 15, times: 1 }] });
  const killed = await queueing.start();
  const runs = async () =>
    (
      await pool.query(
        `select state, verified, attempt, pages, error from sync_runs where resource = 'referrals' order by id`,
      )
    ).rows;
  await expect.poll(async () => (await runs())[0]?.pages ?? 0, { interval: 10 }).toBeGreaterThanOrEqual(10);
  await killed.end('SIGKILL');
  sandbox.setFaults(NO_FAULTS);
  await pool.query(
    `update sync_runs set started_at = started_at - interval '2 hours', heartbeat_at = heartbeat_at - interval '2 hours'`,
  );
  const worker = await queueing.start();
  const last = async () => (await runs()).at(-1);
  await expect.poll(last).toMatchObject({ state: 'succeeded' });
  expect(await runs()).toMatchObject([
    { state: 'partial', verified: false, attempt: 2, error: expect.stringContaining('it was resumed') },
    { state: 'succeeded', verified: true, attempt: 1 },
  ]);
  await worker.end('SIGTERM');
  expect(await runs()).toHaveLength(2);
});
