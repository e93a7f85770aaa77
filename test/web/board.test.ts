// The board of the queue, on both backends: it shows the jobs, refuses whatever would change one, and says nothing that
// only some may read.

import { fastify } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makeBoard } from '../../src/web/board.ts';
import type { JobSource } from '../../src/worker/queue/job-source.ts';
import type { RunningWorker } from '../../src/worker/queue/start-worker.ts';
import { FAST, KINDS, type Kind, makeQueueing, type Queueing } from '../worker/queue/queueing.ts';
import { serveOne } from '../worker/queue/serve-one.ts';

const log = makeLogger('silent');
const AT = '/affiliates/queue';
/** In the error of a job, as the program may answer it. */
const SECRETIVE = 'grace@example.com said sk_live_secret';

interface Shown {
  readonly queueing: Queueing;
  readonly worker: RunningWorker;
  ask(path: string, method?: string): Promise<{ status: number; body: string }>;
}

/** Returns a board over a worker with one job that failed, and one schedule. */
async function show(kind: Kind): Promise<Shown> {
  const queueing = await makeQueueing(kind, { url: 'http://127.0.0.1:9' });
  const failing: JobSource = {
    name: 'failing',
    needsProgram: false,
    schedules: [{ name: 'yearly', pattern: '0 0 1 1 *', timezone: 'UTC' }],
    findDue: async () => [{ id: 'failing-1', priority: 1, run: () => Promise.reject(new Error(SECRETIVE)) }],
  };
  const worker = await serveOne(
    { db: queueing.db, log, probe: async () => {} },
    { queue: queueing.settings, sources: [failing], timings: { ...FAST, mostAttempts: 1 } },
  );
  const server = fastify({ rewriteUrl: ({ url = '/' }) => url.slice(AT.length) || '/' });
  const board = makeBoard({ log, queue: worker.queue, checkQueue: worker.checkQueue });
  await board(server, { basePath: AT });
  onTestFinished(async () => {
    await server.close();
    await worker.stop();
  });
  await expect.poll(() => worker.countJobs()).toMatchObject({ failed: 1 });
  return {
    queueing,
    worker,
    async ask(path, method = 'GET') {
      const url = `${AT}${path}`;
      const answer = await server.inject({
        method: method as 'GET',
        url,
        ...(method !== 'GET' && { payload: {} }),
      });
      return {
        status: answer.statusCode,
        body: answer.body,
      };
    },
  };
}

/** Returns every route of bull-board that changes something, of our queue and its failed job. */
async function listChanges(): Promise<[method: string, path: string][]> {
  const { appRoutes } = await import('@bull-board/api/dist/routes.js' as string);
  const names = { queueName: 'work', jobId: 'failing-1', queueStatus: 'failed', schedulerId: 'yearly' };
  const routes = appRoutes.api as { method: string | string[]; route: string | string[] }[];
  return routes.flatMap(({ method, route }) =>
    [method].flat().flatMap((one) =>
      [route].flat().flatMap((path): [string, string][] => {
        if (one === 'get') return [];
        const named = path.replace(/:(\w+)/g, (_, name: keyof typeof names) => names[name] ?? 'other');
        return [[one.toUpperCase(), named]];
      }),
    ),
  );
}

describe.each(KINDS)('the board of a queue on %s', (kind) => {
  test('lists the queue, its jobs and its schedules, without a word of an error', async () => {
    const { ask } = await show(kind);
    const queues = await ask('/api/queues?activeQueue=work&status=failed&page=1&jobsPerPage=10');
    expect(JSON.parse(queues.body)).toMatchObject({
      queues: [
        {
          name: 'work',
          readOnlyMode: true,
          jobs: [
            {
              id: 'failing-1',
              name: 'failing',
              data: {},
              isFailed: true,
              failedReason: 'the reason is in the log of the worker (job.failed)',
              stacktrace: [],
            },
          ],
        },
      ],
    });
    const schedules = await ask('/api/job-schedulers');
    expect(schedules.body).toContain('yearly');
    const others = [
      '/api/queues/work/failing-1',
      '/api/queues/work/failing-1/flow',
      '/api/queues/work/failing-1/logs',
    ];
    const answers = [queues, schedules, ...(await Promise.all(others.map((path) => ask(path))))];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).not.toMatch(/grace|secret/);
    }
    // It would say how its server is reached, and what else is kept there.
    expect((await ask('/api/redis/stats')).status).toBe(403);
  });

  test('refuses whatever would change something', async () => {
    const { ask, worker } = await show(kind);
    const before = await worker.countJobs();
    const changes: [string, string][] = [...(await listChanges()), ['DELETE', '/api/queues/work']];
    expect(changes.length).toBeGreaterThan(15);
    const answers = await Promise.all(changes.map(([method, path]) => ask(path, method)));
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 405));
    expect(await worker.queue.isPaused()).toBe(false);
    expect(await worker.countJobs()).toEqual(before);
    expect(await worker.queue.getJobSchedulersCount()).toBeGreaterThan(0);
  });
});

test('while the queue is away it says so, and does not wait for it', async () => {
  const { ask, queueing } = await show('redis');
  await queueing.redis?.stop();
  const answer = await ask('/api/queues');
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body).error).toContain('the queue does not answer');
  const page = await ask('/');
  expect(page.status).toBe(503);
  expect(page.body).toContain('<h1>The queue does not answer</h1>');
  expect(page.body).toContain('href="/affiliates/"');
  await queueing.redis?.start();
  await expect.poll(async () => (await ask('/api/queues')).status).toBe(200);
});
