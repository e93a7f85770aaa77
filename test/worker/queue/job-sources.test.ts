// What is due becomes a job, on both queues: each item its own, one at a time of a subject, the most important first, and
// again only where that may help.

import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { ApiUnreachable } from '../../../src/base/errors.ts';
import { makeLogger } from '../../../src/base/log.ts';
import type { JobContext, JobOutcome, JobSource } from '../../../src/worker/queue/job-source.ts';
import type { Timings } from '../../../src/worker/queue/timings.ts';
import { sized } from '../../support/sizes.ts';
import { FAST, KINDS, makeQueueing, type Queueing } from './queueing.ts';
import { serveOne } from './serve-one.ts';

const SOME_KINDS = sized(KINDS.slice(0, 1), KINDS.slice(1));
const NO_PROGRAM = { url: 'http://127.0.0.1:9' };
const DONE = { kind: 'done' } as const;
/** Only what ends, and what a test asks for, has a worker look. */
const TIMINGS = { ...FAST, watchIntervalMs: 600_000, mostAttempts: 2 };

function start(
  { db, settings }: Queueing,
  sources: readonly JobSource[],
  timings: Partial<Timings> = TIMINGS,
  log = makeLogger('fatal'),
) {
  return serveOne({ db, log, probe: async () => {} }, { queue: settings, sources, timings });
}

interface Task {
  readonly id: string;
  readonly subject?: string;
  readonly mayBegin?: boolean;
  readonly run: (context: JobContext) => unknown;
}

/** Returns a source of which the tasks are due, in their order, until each was done; what was begun is noted. */
function makeSource(name: string, tasks: Task[], begun: string[]): JobSource {
  const due = ({ id, subject, run, ...rest }: Task) => ({
    id,
    ...(subject !== undefined && { subject }),
    priority: 1,
    ...rest,
    async run(context: JobContext) {
      begun.push(id);
      const outcome = await run(context);
      if (outcome !== undefined) return outcome as JobOutcome;
      const at = tasks.findIndex((task) => task.id === id);
      if (at >= 0) tasks.splice(at, 1);
      return DONE;
    },
  });
  return { name, needsProgram: false, schedules: [], findDue: async () => tasks.map(due) };
}

const nothing = () => {};
const bug = () => {
  throw new TypeError('a bug');
};
const outage = () => {
  throw new Error('an outage');
};

describe.each(SOME_KINDS)('what is due, on %s,', (kind) => {
  test('is done by one job of a subject at a time, and what came due meanwhile right after it', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const tasks: Task[] = [{ id: 'x-1', subject: 'x', run: () => gate.promise }];
    const source = makeSource('x', tasks, begun);
    const workers = [await start(queueing, [source]), await start(queueing, [source])];
    await expect.poll(() => begun).toEqual(['x-1']);
    tasks.push({ id: 'x-2', subject: 'x', run: nothing });
    for (const worker of workers) worker.wake();
    const { queue, close } = await queueing.open();
    await expect
      .poll(() => queue.getJobCounts('active', 'prioritized'))
      .toEqual({ active: 1, prioritized: 0 });
    expect(begun).toEqual(['x-1']);
    gate.resolve();
    await expect.poll(() => begun).toEqual(['x-1', 'x-2']);
    await expect.poll(() => tasks).toEqual([]);
    await close();
    for (const worker of workers) await worker.stop();
  });

  test('that steps aside for a part of a millisecond is tried again, and not given up', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const run = () => (begun.length < 2 ? { kind: 'later', waitMs: 0.5 } : undefined);
    const worker = await start(queueing, [makeSource('x', [{ id: 'x-1', run }], begun)]);
    await expect.poll(() => begun).toEqual(['x-1', 'x-1']);
    await worker.stop();
  });

  test('that was given up leaves its turn to the next one of its subject, until it is due anew', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const tasks: Task[] = [
      { id: 'first-1', subject: 'x', run: bug },
      { id: 'second-1', subject: 'x', run: nothing },
    ];
    const worker = await start(queueing, [makeSource('x', tasks, begun)]);
    await expect.poll(() => begun).toEqual(['first-1', 'second-1']);
    worker.wake();
    tasks.splice(0, 1, { id: 'first-2', subject: 'x', run: nothing });
    worker.wake();
    await expect.poll(() => begun).toEqual(['first-1', 'second-1', 'first-2']);
    await worker.stop();
  });

  test('that waits for its next attempt gives way to what is more important of its subject', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const tasks: Task[] = [];
    const fails = () => {
      // Once: the job then waits for its next attempt.
      tasks.splice(
        0,
        1,
        { id: 'full-2', subject: 'x', run: nothing },
        { id: 'delta-1', subject: 'x', run: nothing },
      );
      throw new Error('an outage');
    };
    tasks.push({ id: 'delta-1', subject: 'x', run: fails });
    const worker = await start(queueing, [makeSource('x', tasks, begun)]);
    await expect.poll(() => begun).toEqual(['delta-1', 'full-2', 'delta-1']);
    await worker.stop();
  });

  test('and fails, holds up nothing else, and only that is given up', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const tasks: Task[] = [
      { id: 'first-1', run: outage },
      { id: 'second-1', run: bug },
      { id: 'third-1', run: nothing },
    ];
    const worker = await start(queueing, [makeSource('x', tasks, begun)]);
    const { queue, close } = await queueing.open();
    const givenUp = async () => (await queue.getFailed()).map(({ id, attemptsMade }) => [id, attemptsMade]);
    await expect
      .poll(async () => (await givenUp()).toSorted())
      .toEqual([
        ['first-1', 2],
        ['second-1', 1],
      ]);
    expect(begun.toSorted()).toEqual(['first-1', 'first-1', 'second-1', 'third-1']);
    await close();
    await worker.stop();
  });

  test('and may not begin yet gets no job', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const tasks: Task[] = [
      { id: 'first-1', mayBegin: false, run: nothing },
      { id: 'second-1', run: nothing },
    ];
    const worker = await start(queueing, [makeSource('x', tasks, begun)]);
    await expect.poll(() => begun).toEqual(['second-1']);
    tasks.splice(0, 1, { id: 'first-1', run: nothing });
    worker.wake();
    await expect.poll(() => begun).toEqual(['second-1', 'first-1']);
    await worker.stop();
  });

  test('of a program that is away costs no attempt, and waits until a single request is answered', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    let isAway = true;
    let probes = 0;
    const answer = () => {
      if (isAway) throw new ApiUnreachable('away');
    };
    const probe = async () => {
      probes += 1;
      answer();
    };
    const begun: string[] = [];
    const tasks: Task[] = ['first-1', 'second-1'].map((id) => ({ id, run: answer }));
    const upkeep: Task[] = [];
    const sources = [
      { ...makeSource('x', tasks, begun), needsProgram: true },
      makeSource('upkeep', upkeep, begun),
    ];
    const log = makeLogger('fatal');
    const worker = await serveOne(
      { db: queueing.db, log, probe },
      { queue: queueing.settings, sources, timings: { ...TIMINGS, firstProbeMs: 200, longestProbeMs: 200 } },
    );
    // Of the start, of the jobs that failed, and those that follow.
    await expect.poll(() => probes).toBeGreaterThan(4);
    expect(begun.toSorted()).toEqual(['first-1', 'second-1']);
    upkeep.push({ id: 'upkeep-1', run: nothing });
    worker.wake();
    await expect.poll(() => begun.slice(2)).toEqual(['upkeep-1']);
    const { queue, close } = await queueing.open();
    expect(await queue.getJobCounts('failed', 'delayed')).toEqual({ failed: 0, delayed: 0 });
    isAway = false;
    await expect.poll(() => begun.slice(3).toSorted()).toEqual(['first-1', 'second-1']);
    await expect.poll(() => tasks).toEqual([]);
    await close();
    await worker.stop();
  });

  test('that was done meanwhile, or that no worker knows, is not done by a job that comes late', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    const worker = await start(queueing, [makeSource('x', [], begun)]);
    const { queue, close } = await queueing.open();
    const jobs = [await queue.add('x', {}, { jobId: 'x-1' }), await queue.add('unknown', {})];
    for (const job of jobs) await expect.poll(() => job.getState()).toBe('completed');
    expect(begun).toEqual([]);
    await close();
    await worker.stop();
  });

  test('keeps its job where another source cannot say what is due, and every one of those is named', async () => {
    const queueing = await makeQueueing(kind, NO_PROGRAM);
    const begun: string[] = [];
    let areBroken = false;
    const makeBroken = (name: string): JobSource => ({
      name,
      needsProgram: false,
      schedules: [],
      findDue: async () => {
        if (areBroken) throw new Error(`${name} is broken`);
        return [];
      },
    });
    const tasks: Task[] = [];
    const reasons: string[] = [];
    const log = pino({}, { write: (line: string) => reasons.push(JSON.parse(line).reason) });
    const sources = [makeBroken('a'), makeBroken('b'), makeSource('x', tasks, begun)];
    const worker = await start(queueing, sources, TIMINGS, log);
    areBroken = true;
    tasks.push({ id: 'x-1', run: nothing });
    worker.wake();
    await expect.poll(() => begun).toEqual(['x-1']);
    await expect.poll(() => reasons).toEqual(expect.arrayContaining(['a is broken', 'b is broken']));
    await worker.stop();
  });
});
