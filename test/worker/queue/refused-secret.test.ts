// A secret that the program refuses, on both queues: one line in the log, no job fails, and the queue
// goes on by itself once the secret is accepted.

import { afterEach, describe, expect, test } from 'vitest';
import { askForProbe } from '../../../src/worker/queue/worker-state.ts';
import { runSandbox, SECRET, type TestSandbox } from '../../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { sized } from '../../support/sizes.ts';
import { FAST, KINDS, makeQueueing, type Queueing } from './queueing.ts';

/** Both queues share the code that this is about: `npm test` shows it on one, the long tests on the other. */
const SOME_KINDS = sized(KINDS.slice(0, 1), KINDS.slice(1));

const OFTEN = { full: '* * * * * *', delta: null, timezone: 'UTC' };
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

/** Returns how long after the n-th refusal the next probe is due, to the tenth of a second; null before it. */
async function readProbe({ pool }: Queueing, probes: number): Promise<number | null> {
  const { rows } = await pool.query<{ ms: number }>(
    `select round(extract(epoch from next_probe_at - probed_at) * 10)::int * 100 as ms
     from worker_state where probes >= $1`,
    [probes],
  );
  return rows[0]?.ms ?? null;
}

describe.each(SOME_KINDS)('a wrong secret, on %s', (kind) => {
  test('stops what asks the program with one line and a request of each worker, fails no job, and a restart with the right one fixes it', async () => {
    const program = await startProgram(await createTestDatabase(), SECRET);
    const queueing = await makeQueueing(kind, program);
    const timings = { watchIntervalMs: 300, firstProbeMs: 60_000 };
    const options = { secret: WRONG, syncs: OFTEN, timings };
    const workers = [await queueing.start(options), await queueing.start(options)];
    // The schedule goes on, and makes no job.
    const backend = await queueing.open();
    const nextMs = async () => (await backend.queue.getJobScheduler('sync-full'))?.next ?? 0;
    const soFarMs = await nextMs();
    await expect.poll(nextMs).toBeGreaterThan(soFarMs + 1500);
    expect(await backend.queue.getJobCounts('prioritized', 'delayed')).toMatchObject({ prioritized: 0 });

    expect(program.requests.map(({ status }) => status)).toEqual([401, 401]);
    const errors = workers.flatMap(({ log }) => log.filter(({ level }) => level >= ERROR));
    expect(errors).toEqual([
      expect.objectContaining({
        msg: 'program.secret_refused',
        fix: expect.stringContaining('Correct AFFILIATE_API_SECRET'),
      }),
    ]);
    expect(JSON.stringify(workers.map(({ log }) => log))).not.toContain(WRONG);
    expect(await backend.queue.isPaused()).toBe(false);
    expect(await backend.queue.getJobCounts('failed')).toEqual({ failed: 0 });
    await backend.close();
    expect((await queueing.pool.query('select from sync_runs')).rows).toEqual([]);
    for (const worker of workers) await worker.end('SIGTERM');

    const fixed = await queueing.start({ syncs: OFTEN });
    await fixed.says('program.secret_accepted');
    await waitForRun(queueing);
    await fixed.end('SIGTERM');
  });

  test('that the program comes to refuse in the middle of things is tried again at growing intervals, and taken up again', async () => {
    const database = await createTestDatabase();
    const program = await startProgram(database, SECRET);
    const queueing = await makeQueueing(kind, program);
    const worker = await queueing.start({ syncs: OFTEN });
    await waitForRun(queueing);
    const { port } = program;
    await program.close();
    const refusing = await startProgram(database, 'another-secret', port);
    for (const [probes, waitMs] of [
      [1, FAST.firstProbeMs],
      [2, FAST.longestProbeMs],
      [3, FAST.longestProbeMs],
    ] as const) {
      await expect.poll(() => readProbe(queueing, probes)).toBe(waitMs);
    }
    expect(worker.log.filter(({ level }) => level >= ERROR)).toHaveLength(1);
    // Probes, the next one perhaps under way, and no job's requests.
    const requests = refusing.requests.length;
    const { rows } = await queueing.pool.query<{ probes: number }>('select probes from worker_state');
    expect(requests).toBeLessThanOrEqual((rows[0]?.probes ?? 0) + 1);
    await refusing.close();
    await startProgram(database, SECRET, port);
    await worker.says('program.secret_accepted');
    await queueing.pool.query('truncate sync_runs cascade');
    await waitForRun(queueing);
    const backend = await queueing.open();
    // The schedule went on meanwhile.
    const nextMs = async () => (await backend.queue.getJobScheduler('sync-full'))?.next ?? 0;
    await expect.poll(nextMs).toBeGreaterThan(Date.now() + 500);
    expect(await backend.queue.getJobCounts('failed')).toEqual({ failed: 0 });
    await backend.close();
    await worker.end('SIGTERM');
  });

  test('that was corrected is taken up again at once when doctor asks for it', async () => {
    const database = await createTestDatabase();
    const program = await startProgram(database, 'another-secret');
    const { port } = program;
    const queueing = await makeQueueing(kind, program);
    const worker = await queueing.start({
      syncs: OFTEN,
      timings: { watchIntervalMs: 200, firstProbeMs: 600_000, longestProbeMs: 600_000 },
    });
    await program.close();
    await startProgram(database, SECRET, port);
    await askForProbe(queueing.db);
    await waitForRun(queueing);
    await worker.end('SIGTERM');
  });
});
