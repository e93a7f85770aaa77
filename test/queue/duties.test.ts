// What is due becomes a job, on both queues: one at a time, the most important first, and again only where that may
// help.

import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { makeLogger } from '../../src/log.ts';
import type { Duty, JobContext, JobOutcome } from '../../src/queue/duty.ts';
import { startWorker } from '../../src/queue/start-worker.ts';
import type { Timings } from '../../src/queue/timings.ts';
import { sized } from '../support/sizes.ts';
import { FAST, KINDS, makeQueueing, type Queueing } from './queueing.ts';

const SOME_KINDS = sized(KINDS.slice(0, 1), KINDS.slice(1));
const NO_PROGRAM = { url: 'http://127.0.0.1:9' };
const DONE = { kind: 'done' } as const;
/** Only what ends, and what a test asks for, has a worker look. */
const TIMINGS = { ...FAST, watchIntervalMs: 600_000, mostAttempts: 2 };

function start(
  { db, settings }: Queueing,
  duties: readonly Duty[],
  timings: Partial<Timings> = TIMINGS,
  log = makeLogger('fatal'),
) {
  return startWorker({ db, log, probe: async () => {} }, { queue: settings, duties, timings });
}

interface Task {
  readonly id: string;
  readonly subject?: string;
  readonly atMs: number;
  readonly run: (context: JobContext) => unknown;
}

/** Returns a duty of which the tasks are due, in their order, until each was done; what was begun is noted. */
function makeDuty(name: string, tasks: Task[], begun: string[]): Duty {
  const due = ({ id, subject, atMs, run }: Task) => ({
    id,
    ...(subject !== undefined && { subject }),
    atMs,
    async run(context: JobContext) {
      begun.push(id);
      const outcome = await run(context);
      if (outcome !== undefined) return outcome as JobOutcome;
      const at = tasks.findIndex((task) => task.id === id);
      if (at >= 0) tasks.splice(at, 1);
      return DONE;
    },
  });
  return { name, alarms: [], findDue: async () => tasks.map(due) };
}

const nothing = () => {};

describe.each(SOME_KINDS)('a duty on %s', (kind) => {
  test('is done by one job at a time, and what came due meanwhile right after it', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const tasks: Task[] = [{ id: 'x-1', atMs: 1, run: () => gate.promise }];
    const duty = makeDuty('x', tasks, begun);
    const workers = [await start(queueing, [duty]), await start(queueing, [duty])];
    await expect.poll(() => begun).toEqual(['x-1']);
    tasks.push({ id: 'x-2', atMs: 2, run: nothing });
    for (const worker of workers) worker.lookNow();
    const { queue, close } = await queueing.open();
    await expect.poll(() => queue.getJobCounts('active', 'waiting')).toEqual({ active: 1, waiting: 0 });
    expect(begun).toEqual(['x-1']);
    gate.resolve();
    await expect.poll(() => begun).toEqual(['x-1', 'x-2']);
    await expect.poll(() => tasks).toEqual([]);
    await close();
    for (const worker of workers) await worker.stop();
  });

  test('that steps aside for a part of a millisecond is tried again, and not given up', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    let tries = 0;
    const run = async () => {
      tries += 1;
      return tries === 1 ? ({ kind: 'later', waitMs: 0.5 } as const) : DONE;
    };
    const due = [{ id: 'x-1', atMs: 1, run }];
    const duty: Duty = { name: 'x', alarms: [], findDue: async () => (tries < 2 ? due : []) };
    const worker = await start(queueing, [duty]);
    await expect.poll(() => tries).toBe(2);
    await worker.stop();
  });

  test('that was given up leaves its turn to the next one, until it is due anew', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const bug = () => {
      throw new TypeError('a bug');
    };
    const tasks: Task[] = [
      { id: 'first-1', atMs: 1, run: bug },
      { id: 'second-1', atMs: 1, run: nothing },
    ];
    const worker = await start(queueing, [makeDuty('x', tasks, begun)]);
    await expect.poll(() => begun).toEqual(['first-1', 'second-1']);
    worker.lookNow();
    tasks.splice(0, 1, { id: 'first-2', atMs: 2, run: nothing });
    worker.lookNow();
    await expect.poll(() => begun).toEqual(['first-1', 'second-1', 'first-2']);
    await worker.stop();
  });

  test.each(['25006', '25P03', '42501'])(
    'whose database refuses something for now (%s), as after a failover, is tried again',
    async (code) => {
      const queueing = await makeQueueing(kind, NO_PROGRAM);
      const begun: string[] = [];
      const refused = () =>
        begun.length < 2 && queueing.pool.query(`do $$ begin raise using errcode = '${code}'; end $$`);
      const tasks: Task[] = [{ id: 'x-1', atMs: 1, run: async () => void (await refused()) }];
      const worker = await start(queueing, [makeDuty('x', tasks, begun)]);
      await expect.poll(() => tasks).toEqual([]);
      expect(begun).toEqual(['x-1', 'x-1']);
      await worker.stop();
    },
  );

  test('that waits for its next attempt does first what matters more and came due meanwhile', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const tasks: Task[] = [];
    const fails = () => {
      // Once: the job then waits for its next attempt.
      tasks.splice(0, 1, { id: 'full-2', atMs: 2, run: nothing }, { id: 'delta-1', atMs: 1, run: nothing });
      throw new Error('an outage');
    };
    tasks.push({ id: 'delta-1', atMs: 1, run: fails });
    const worker = await start(queueing, [makeDuty('x', tasks, begun)]);
    await expect.poll(() => begun).toEqual(['delta-1', 'full-2', 'delta-1']);
    await worker.stop();
  });

  test('that fails at one thing does the others between its attempts, and gives up nothing but that', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const outage = () => {
      throw new Error('an outage');
    };
    const bug = () => {
      throw new TypeError('a bug');
    };
    const tasks: Task[] = [
      { id: 'first-1', atMs: 1, run: outage },
      { id: 'second-1', atMs: 1, run: bug },
      { id: 'third-1', atMs: 1, run: nothing },
    ];
    const worker = await start(queueing, [makeDuty('x', tasks, begun)]);
    const { queue, close } = await queueing.open();
    const givenUp = async () => (await queue.getFailed()).map(({ id, attemptsMade }) => [id, attemptsMade]);
    await expect
      .poll(async () => (await givenUp()).toSorted())
      .toEqual([
        ['first-1', 2],
        ['second-1', 1],
      ]);
    // What no repetition helps ends in a job of its own.
    expect(begun).toEqual(['first-1', 'second-1', 'third-1', 'first-1', 'second-1']);
    await close();
    await worker.stop();
  });

  test('that waits for its next attempt at one thing does at once what else is due, and what comes due', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const outage = () => {
      throw new Error('an outage');
    };
    const tasks: Task[] = [
      { id: 'first-1', subject: 'first', atMs: 1, run: outage },
      { id: 'second-1', subject: 'second', atMs: 1, run: nothing },
      { id: 'third-1', subject: 'third', atMs: 1, run: nothing },
    ];
    const days = 1e9;
    const patient = { firstBackoffMs: days, longestBackoffMs: days, longestDelayMs: days };
    const worker = await start(queueing, [makeDuty('x', tasks, begun)], { ...TIMINGS, ...patient });
    await expect.poll(() => begun).toEqual(['first-1', 'second-1', 'third-1']);
    const { queue, close } = await queueing.open();
    const isWaiting = async () => (await queue.getDelayedCount()) === 1;
    await expect.poll(isWaiting).toBe(true);
    // The next of the same thing is no reason to ask again, nor is another that somebody else is doing.
    tasks.splice(0, 1, { id: 'first-2', subject: 'first', atMs: 2, run: outage });
    tasks.push({ id: 'second-2', subject: 'second', atMs: 2, run: () => ({ kind: 'later', waitMs: days }) });
    worker.lookNow();
    await expect.poll(() => begun.slice(3)).toEqual(['second-2']);
    await expect.poll(isWaiting).toBe(true);
    for (let looks = 0; looks < 3; looks += 1) {
      worker.lookNow();
      await sleep(200);
    }
    expect(begun.slice(3)).toEqual(['second-2']);
    tasks.push({ id: 'third-2', subject: 'third', atMs: 2, run: nothing });
    tasks.splice(1, 1);
    worker.lookNow();
    await expect.poll(() => begun.slice(4)).toEqual(['third-2']);
    await expect.poll(isWaiting).toBe(true);
    expect((await queue.getDelayed())[0]?.attemptsMade).toBe(1);
    await close();
    await worker.stop();
  });

  test('that was done meanwhile, or that no worker knows, is not done by a job that comes late', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const worker = await start(queueing, [makeDuty('x', [], begun)]);
    const { queue, close } = await queueing.open();
    const jobs = [
      await queue.add('x', { atMs: 1 }, { jobId: 'x-1' }),
      await queue.add('unknown', { atMs: 1 }),
    ];
    for (const job of jobs) await expect.poll(() => job.getState()).toBe('completed');
    expect(begun).toEqual([]);
    await close();
    await worker.stop();
  });

  test('that cannot say what is due keeps no other from its job, and every one of them is named', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    let areBroken = false;
    const makeBroken = (name: string): Duty => ({
      name,
      alarms: [],
      findDue: async () => {
        if (areBroken) throw new Error(`${name} is broken`);
        return [];
      },
    });
    const tasks: Task[] = [];
    const reasons: string[] = [];
    const log = pino({}, { write: (line: string) => reasons.push(JSON.parse(line).reason) });
    const duties = [makeBroken('a'), makeBroken('b'), makeDuty('x', tasks, begun)];
    const worker = await start(queueing, duties, TIMINGS, log);
    areBroken = true;
    tasks.push({ id: 'x-1', atMs: 1, run: nothing });
    worker.lookNow();
    await expect.poll(() => begun).toEqual(['x-1']);
    await expect.poll(() => reasons).toEqual(expect.arrayContaining(['a is broken', 'b is broken']));
    await worker.stop();
  });
});
