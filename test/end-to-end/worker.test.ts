// The worker as an operator runs it: the command `work`, on both queues, from its start to its end.

import { describe, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startRedis, type TestRedis, tellRedis } from '../support/redis.ts';
import { runCli } from '../support/run-cli.ts';

type Environment = Readonly<Record<string, string>>;

interface Setup {
  readonly program: TestDatabase;
  readonly sandbox: TestSandbox;
  readonly database: TestDatabase;
  readonly redis: TestRedis | null;
  readonly environment: Environment;
}

async function setUp(kind: 'postgres' | 'redis'): Promise<Setup> {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 30, referrals: 300 });
  const database = await createTestDatabase();
  const redis = kind === 'redis' ? await startRedis() : null;
  const environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: database.url,
    ...(redis !== null && { REDIS_URL: redis.url }),
  };
  return { program, sandbox, database, redis, environment };
}

describe.each(['postgres', 'redis'] as const)('work, with its queue in %s', (kind) => {
  test('mirrors on schedule, pays what is asked for, says that it is ready, and ends at once', async () => {
    const { program, sandbox, database, environment } = await setUp(kind);
    expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
    const worker = await startCommandWorker({ ...environment, SYNC_TIMEZONE: 'Europe/Berlin' });
    expect(worker.lines.find((line) => line.includes('worker.started'))).toMatch(
      /"sync-full \S+ \* \* \* \* \*, next at [\d-]+ [\d:]+ Europe\/Berlin \([\d-]*\s?[\d:]+ UTC\)"/,
    );
    expect(await worker.readyz()).toEqual({ database: 'ok', rights: 'ok', migrations: 'ok', queue: 'ok' });
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

    // An open page follows along, and is no reason to stop late.
    expect((await fetch(`${worker.url}/live`)).status).toBe(200);
    // 1 where something hung until its deadline.
    expect(await worker.stop()).toBe(0);
    expect(worker.lines.join('\n')).not.toContain(SECRET);
    // Not a line of the log: a warning of Node.
    expect(worker.lines.filter((line) => !line.startsWith('{'))).toEqual([]);
    expect(worker.lines.filter((line) => JSON.parse(line).level >= 40)).toEqual([]);
  });
});

test('a worker whose Redis is away says that it is not ready, and is so again by itself', async () => {
  const { redis, environment } = await setUp('redis');
  await runCli(['migrate'], environment);
  const worker = await startCommandWorker(environment);
  await redis?.stop();
  const status = async () => (await fetch(`${worker.url}/readyz`)).status;
  await expect.poll(status).toBe(503);
  expect(await worker.readyz()).toEqual({ database: 'ok', rights: 'ok', migrations: 'ok', queue: 'failed' });
  expect((await fetch(`${worker.url}/healthz`)).status).toBe(200);
  await redis?.start();
  await expect.poll(status).toBe(200);
  expect(await worker.stop()).toBe(0);
});

test('a second signal ends a worker at once that waits for a queue which does not answer', async () => {
  const { redis, database, environment } = await setUp('redis');
  await runCli(['migrate'], environment);
  // Each page waits for its permit, so the run is in its middle.
  const worker = await startCommandWorker({ ...environment, API_RATE_LIMIT: '3/60' });
  const running = () =>
    database.pool.query(`select from sync_runs where state = 'running'`).then(({ rows }) => rows.length);
  await expect.poll(running).toBe(1);
  await tellRedis(redis?.port ?? 0, 'CLIENT PAUSE 600000');
  const ended = worker.stop();
  // More than once: a signal within half a second counts as the same key press.
  const again = setInterval(() => worker.stop(), 100);
  expect(await ended).toBe(143);
  clearInterval(again);
});
