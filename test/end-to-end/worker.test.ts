// The worker as an operator runs it: the command `work`, on both queues, from its start to its end.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { runCli, runCliAlone, spawnCli } from '../support/run-cli.ts';

type Environment = Readonly<Record<string, string>>;

interface Worker {
  readonly url: string;
  readonly lines: readonly string[];
  send(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
}

interface Setup {
  readonly program: TestDatabase;
  readonly sandbox: TestSandbox;
  readonly database: TestDatabase;
  readonly redis: TestRedis | null;
  readonly environment: Environment;
}

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function setUp(kind: 'postgres' | 'redis'): Promise<Setup> {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 30, referrals: 300 });
  closers.push(() => sandbox.close());
  const database = await createTestDatabase();
  const redis = kind === 'redis' ? await startRedis() : null;
  const environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: database.url,
    SYNC_FULL_CRON: '*/2 * * * * *',
    SYNC_DELTA_CRON: '',
    STATUS_PORT: '0',
    ...(redis !== null && { REDIS_URL: redis.url }),
  };
  return { program, sandbox, database, redis, environment };
}

async function startWork(environment: Environment): Promise<Worker> {
  const child = spawnCli(['work'], environment);
  closers.push(() => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const said = (word: string) => lines.find((line) => line.includes(word));
  await expect.poll(() => said('worker.started'), { message: lines.join('\n') }).toBeDefined();
  const { url } = JSON.parse(said('status.listening') ?? '{}');
  return { url, lines, send: (signal) => void child.kill(signal), ended };
}

async function readyz({ url }: Worker): Promise<{ status: number; checks: unknown }> {
  const answer = await fetch(`${url}/readyz`);
  const { checks } = JSON.parse(await answer.text());
  return { status: answer.status, checks };
}

describe.each(['postgres', 'redis'] as const)('work, with its queue in %s', (kind) => {
  test('mirrors on schedule, pays what is asked for, says that it is ready, and ends at once', async () => {
    const { program, sandbox, database, environment } = await setUp(kind);
    expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
    const worker = await startWork(environment);
    expect(await readyz(worker)).toEqual({
      status: 200,
      checks: { database: 'ok', rights: 'ok', migrations: 'ok', queue: 'ok' },
    });
    const looked = () =>
      database.pool
        .query('select next_look_at > now() as looked from alert_watch')
        .then(({ rows }) => rows[0]);
    await expect.poll(looked).toEqual({ looked: true });
    // The queue did not answer while the worker started.
    const away = await database.pool.query(`select from alerts where code = 'queue_away'`);
    expect(away.rows).toEqual([]);
    const succeeded = () =>
      database.pool
        .query(`select distinct resource from sync_runs where state = 'succeeded' order by resource`)
        .then(({ rows }) => rows.map(({ resource }) => resource));
    await expect.poll(succeeded).toEqual(['affiliates', 'referrals']);
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
    // Not before: a poll shows a part of the commission's affiliate, and where that is newer than the list's page, the
    // rest of the affiliate comes with the next sync.
    const known = await program.pool.query<{ id: string }>(
      'select id from sandbox.commissions order by id limit 1',
    );
    const tracked = known.rows[0]?.id ?? '';
    expect(await runCli(['commissions', 'track', tracked], environment)).toMatchObject({ code: 0 });
    const polled = () =>
      database.pool.query('select id from commissions').then(({ rows }) => rows.map(({ id }) => id));
    await expect.poll(polled).toEqual([tracked]);

    const { rows } = await program.pool.query<{ id: string }>(
      'select id from sandbox.commissions where voided_at is null and paid_at is null limit 1',
    );
    const commission = rows[0]?.id ?? '';
    await database.pool.query(
      `insert into commission_updates (commission_id, action, paid_at, reason) values ($1, 'pay', '2026-02-03T04:05:06Z', 'test')`,
      [commission],
    );
    const states = () =>
      database.pool.query('select state from commission_updates').then(({ rows }) => rows[0].state);
    await expect.poll(states).toBe('applied');
    expect((await sandbox.commission(commission)).paid_at).toMatch(/^2026-02-03T04:05:06/);

    worker.send('SIGTERM');
    // 1 where something hung until its deadline.
    expect(await worker.ended).toBe(0);
    expect(worker.lines.join('\n')).not.toContain(SECRET);
    expect(worker.lines.filter((line) => JSON.parse(line).level >= 40)).toEqual([]);
  });
});

test('a worker whose Redis is away says that it is not ready, and is so again by itself', async () => {
  const { redis, environment } = await setUp('redis');
  await runCli(['migrate'], environment);
  const worker = await startWork(environment);
  await redis?.stop();
  const status = () => readyz(worker);
  await expect.poll(status).toEqual({
    status: 503,
    checks: { database: 'ok', rights: 'ok', migrations: 'ok', queue: 'failed' },
  });
  expect((await fetch(`${worker.url}/healthz`)).status).toBe(200);
  await redis?.start();
  await expect.poll(status).toMatchObject({ status: 200 });
  worker.send('SIGTERM');
  expect(await worker.ended).toBe(0);
});

test('a second signal ends a worker at once that waits for a queue which is away', async () => {
  const { redis, database, environment } = await setUp('redis');
  await runCli(['migrate'], environment);
  // Each page waits for its permit, so the run is in its middle.
  const worker = await startWork({ ...environment, API_RATE_LIMIT: '3/60' });
  const running = () =>
    database.pool.query(`select from sync_runs where state = 'running'`).then(({ rows }) => rows.length);
  await expect.poll(running).toBe(1);
  await redis?.stop();
  worker.send('SIGTERM');
  // It has the signal, and its run has stopped: what is left is a job that cannot be returned to the queue.
  await expect.poll(running).toBe(0);
  const again = setInterval(() => worker.send('SIGTERM'), 600);
  // 1 where it waited for its deadline.
  expect(await worker.ended).toBe(143);
  clearInterval(again);
});

test('a worker without tables, without a queue or without a database does not start, and says how to fix it', async () => {
  const { database, environment } = await setUp('postgres');
  const noQueue = await runCliAlone(['work'], environment);
  expect(noQueue).toMatchObject({ code: 1, stderr: expect.stringContaining('run affiliate-mirror migrate') });
  await database.pool.query('drop schema mirror cascade');
  const noTables = await runCliAlone(['work'], environment);
  expect(noTables).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('run affiliate-mirror migrate'),
  });
  const away = { ...environment, DATABASE_URL: 'postgres://u:hidden@127.0.0.1:9/none' };
  const noDatabase = await runCliAlone(['work'], away);
  expect(noDatabase).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot connect to database none at 127.0.0.1:9'),
  });
  expect(noDatabase.stderr).not.toContain('hidden');
});
