// A secret that the program refuses, on both queues: one request, one line, no job burnt, and back by itself.

import { afterEach, describe, expect, test } from 'vitest';
import { wantSync } from '../../src/jobs/catalogue.ts';
import { askForProbe } from '../../src/jobs/program-pause.ts';
import type { Schedule } from '../../src/jobs/schedules.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { KINDS, makeQueueing, type Queueing } from './queueing.ts';

const OFTEN: Schedule = {
  name: 'sync-full',
  pattern: '* * * * * *',
  timezone: 'UTC',
  wants: wantSync('full', ['affiliates', 'referrals']),
};
const WRONG = 'wrong-secret';
const ERROR = 50;

let sandbox: TestSandbox | undefined;

afterEach(() => sandbox?.close());

async function startProgram(database: TestDatabase, secret: string, port = 0): Promise<TestSandbox> {
  const options = { affiliates: 5, referrals: 20, secret, port };
  sandbox = await runSandbox(database.pool, options);
  return sandbox;
}

async function waitForRun(queueing: Queueing): Promise<void> {
  const states = () => queueing.pool.query('select state from sync_runs').then(({ rows }) => rows);
  await expect.poll(states).toContainEqual({ state: 'succeeded' });
}

describe.each(KINDS)('a wrong secret, on %s', (kind) => {
  test('stops the queue with one line and one request, burns no job, and a restart with the right one mends it', async () => {
    const program = await startProgram(await createTestDatabase(), SECRET);
    const queueing = await makeQueueing(kind, program);
    const timings = { watchIntervalMs: 300, tickGraceMs: 300, firstProbeMs: 60_000 };
    const options = { secret: WRONG, schedules: [OFTEN], timings };
    const workers = [await queueing.start(options), await queueing.start(options)];
    // The ticks pile up to one wanted run, which waits.
    await expect
      .poll(() => queueing.pool.query('select key from wanted_jobs').then(({ rows }) => rows))
      .toEqual([{ key: 'sync-affiliates' }]);
    await workers[0]
      ?.says('schedule.made_up_for', 1)
      .catch(() => workers[1]?.says('schedule.made_up_for', 1));

    expect(program.requests.map(({ status }) => status)).toEqual([401]);
    const errors = workers.flatMap(({ log }) => log.filter(({ level }) => level >= ERROR));
    expect(errors).toEqual([
      expect.objectContaining({ msg: expect.stringContaining('refuses the API secret') }),
    ]);
    expect(JSON.stringify(workers.map(({ log }) => log))).not.toContain(WRONG);
    const backend = await queueing.open();
    expect(await backend.queue.isPaused()).toBe(true);
    expect(await backend.queue.getJobCounts('failed', 'active')).toEqual({ failed: 0, active: 0 });
    await backend.close();
    expect((await queueing.pool.query('select from sync_runs')).rows).toEqual([]);
    for (const worker of workers) await worker.end('SIGTERM');

    await queueing.pool.query(`update worker_state set probed_at = probed_at - interval '1 minute'`);
    const mended = await queueing.start({ schedules: [OFTEN] });
    await mended.says('the program accepts the API secret again: the queue goes on');
    await waitForRun(queueing);
    await mended.end('SIGTERM');
  });

  test('that the program comes to refuse in the middle of things is tried again at growing intervals, and taken up again', async () => {
    const database = await createTestDatabase();
    const program = await startProgram(database, SECRET);
    const queueing = await makeQueueing(kind, program);
    const worker = await queueing.start({ schedules: [OFTEN] });
    await waitForRun(queueing);
    const { port } = program;
    await program.close();
    const refusing = await startProgram(database, 'another-secret', port);
    await expect.poll(() => refusing.requests.length).toBeGreaterThan(2);
    expect(worker.log.filter(({ level }) => level >= ERROR)).toHaveLength(1);
    const gaps = refusing.requests
      .slice(1)
      .map(({ receivedAt }, index) => receivedAt - (refusing.requests[index]?.receivedAt ?? 0));
    // Probes, and no job's requests: half a second and more between them.
    for (const gap of gaps) expect(gap).toBeGreaterThan(450);
    await refusing.close();
    await startProgram(database, SECRET, port);
    await worker.says('the program accepts the API secret again: the queue goes on');
    await queueing.pool.query('truncate sync_runs cascade');
    await waitForRun(queueing);
    const backend = await queueing.open();
    expect(await backend.queue.getJobCounts('failed')).toEqual({ failed: 0 });
    await backend.close();
    await worker.end('SIGTERM');
  });

  test('that was mended is taken up again at once when doctor asks for it', async () => {
    const database = await createTestDatabase();
    const program = await startProgram(database, 'another-secret');
    const { port } = program;
    const queueing = await makeQueueing(kind, program);
    const worker = await queueing.start({
      schedules: [OFTEN],
      timings: { watchIntervalMs: 200, firstProbeMs: 600_000, longestProbeMs: 600_000 },
    });
    await program.close();
    await startProgram(database, SECRET, port);
    await askForProbe(queueing.db);
    await waitForRun(queueing);
    await worker.end('SIGTERM');
  });
});
