// A worker that takes up a run which was stopped long ago: what that one cannot prove, a fresh run does at once.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { JOBS, wantSync } from '../../src/jobs/catalogue.ts';
import { enqueue } from '../../src/queue/enqueue.ts';
import { wantJobs } from '../../src/queue/wanted-jobs.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { makeProgram, makeQueueing } from '../queue/queueing.ts';
import type { TestSandbox } from '../sandbox/running-sandbox.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

afterAll(() => sandbox.close());

test('a run that is resumed hours later ends unverified, and the same job reads everything afresh', async () => {
  const queueing = await makeQueueing('postgres', sandbox);
  const { pool, db } = queueing;
  const backend = await queueing.open();
  const jobs = await db.transaction().execute((trx) => wantJobs(trx, JOBS, wantSync('full', ['referrals'])));
  for (const job of jobs) await enqueue(backend.queue, JOBS, job);
  sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', after: 15, times: 1 }] });
  const killed = await queueing.start();
  const runs = async () =>
    (await pool.query('select state, verified, attempt, pages, error from sync_runs order by id')).rows;
  await expect
    .poll(async () => (await runs())[0]?.pages ?? 0, { timeout: 20_000, interval: 10 })
    .toBeGreaterThanOrEqual(10);
  await killed.end('SIGKILL');
  sandbox.setFaults(NO_FAULTS);
  await pool.query(
    `update sync_runs set started_at = started_at - interval '2 hours', heartbeat_at = heartbeat_at - interval '2 hours'`,
  );
  const worker = await queueing.start();
  await expect
    .poll(() => pool.query('select from wanted_jobs').then(({ rows }) => rows), { timeout: 20_000 })
    .toEqual([]);
  expect(await runs()).toMatchObject([
    { state: 'partial', verified: false, attempt: 2, error: expect.stringContaining('it was resumed') },
    { state: 'succeeded', verified: true, attempt: 1 },
  ]);
  await worker.end('SIGTERM');
  await backend.close();
});
