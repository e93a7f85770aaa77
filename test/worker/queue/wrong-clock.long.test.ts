// Workers whose clock jumps a day ahead, on both queues: they end, and what they leave behind delays no other worker.

import { beforeAll, describe, expect, test } from 'vitest';
import type { TestSandbox } from '../../sandbox/running-sandbox.ts';
import { readMirror, readProgram } from '../../support/compare-with-program.ts';
import {
  countEvery,
  FAST,
  KINDS,
  makeProgram,
  makeQueueing,
  type Queueing,
  untilSynced,
  wantFullSync,
} from './queueing.ts';
import type { WorkerProcess } from './worker-processes.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Slow enough for a run to be interrupted in its middle. */
const SLOWLY = '4/0.3';
const EVERY_OTHER_SECOND = [countEvery('a', '*/2 * * * * *')];

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await makeProgram();
});

/** Returns a worker that checks its own clock so rarely that it does all the harm it can. */
function startHarmful(queueing: Queueing, options: Parameters<Queueing['start']>[0] = {}) {
  const timings = { ...FAST, watchIntervalMs: 600_000 };
  return queueing.start({ timings, ...options }, { clockJumpsBy: DAY_MS });
}

async function startRun(queueing: Queueing, worker: WorkerProcess): Promise<void> {
  await wantFullSync(queueing);
  const ofReferrals = () => worker.said('sync.started').filter(({ resource }) => resource === 'referrals');
  await expect.poll(() => ofReferrals().length, { interval: 10 }).toBe(1);
}

async function expectMirrored(queueing: Queueing): Promise<void> {
  await untilSynced(queueing);
  expect(await readMirror(queueing.pool)).toEqual(await readProgram(sandbox));
}

async function untilCounted({ pool }: Queueing, more: number): Promise<void> {
  const counts = () => pool.query('select count(*) from counted').then(({ rows }) => rows[0].count);
  const soFar = await counts();
  await expect.poll(counts, { interval: 50 }).toBeGreaterThanOrEqual(soFar + more);
}

describe.each(KINDS)('a worker whose clock jumps a day ahead, on %s', (kind) => {
  test('and that returns its job puts it off no longer than until the next worker starts', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const harmful = await startHarmful(queueing, { rateLimit: SLOWLY });
    await startRun(queueing, harmful);
    harmful.send('SIGUSR2');
    expect(await harmful.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(harmful.said('job.given_back')).toHaveLength(1);
    const next = await queueing.start();
    await expectMirrored(queueing);
    expect(next.said('queue.freed_from_future')).toMatchObject([{ delays: 1 }]);
  });

  test('and that acts upon ticks of the next day stops no schedule for longer than it runs', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const beside = await queueing.start({ counts: EVERY_OTHER_SECOND });
    const harmful = await startHarmful(queueing, { counts: EVERY_OTHER_SECOND });
    harmful.send('SIGUSR2');
    // Either worker may take a tick; the scheduler is set a day ahead once it is the one whose clock is wrong.
    const backend = await queueing.open();
    const aheadMs = async () => ((await backend.queue.getJobScheduler('a'))?.next ?? 0) - Date.now();
    await expect.poll(aheadMs, { interval: 10 }).toBeGreaterThan(HOUR_MS);
    expect(await harmful.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    await untilCounted(queueing, 3);
    await expect.poll(aheadMs).toBeLessThan(HOUR_MS);
    await backend.close();
    expect(await beside.end('SIGTERM')).toMatchObject({ code: 0 });
  });

  test('ends with exit code 1 at its next look, saying why, and its work is done by another one', async () => {
    const queueing = await makeQueueing(kind, sandbox);
    const worker = await queueing.start({ rateLimit: SLOWLY }, { clockJumpsBy: DAY_MS });
    await startRun(queueing, worker);
    expect(await worker.end('SIGUSR2')).toEqual({ code: 1, signal: null });
    const [unfit] = worker.said('worker.unfit');
    expect(unfit?.['reason']).toMatch(/the clock of this machine is 86\d{3} s ahead of the database's/);
    await queueing.start();
    await expectMirrored(queueing);
  });
});
