// Somebody's transaction, left open, holds a lock on a table of the mirror: whoever waits for it says whose it is.

import { once } from 'node:events';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';

/** Returns a mirror, and what locks its table of referrals for as long as somebody else's transaction is open. */
async function makeMirror() {
  const { url, pool } = await createTestDatabase();
  const sandbox = await runSandbox(pool, { affiliates: 5, referrals: 20 });
  const environment = {
    DATABASE_URL: url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    LOG_LEVEL: 'warn',
  };
  const analyst = new pg.Client({ connectionString: url, application_name: 'notebook' });
  await analyst.connect();
  onTestFinished(() => analyst.end());
  const lock = async (statement = 'lock table mirror.referrals in access exclusive mode') => {
    await analyst.query(`begin; ${statement}`);
    const { rows } = await analyst.query<{ pid: number }>('select pg_backend_pid() as pid');
    return rows[0]?.pid ?? 0;
  };
  return { lock, unlock: () => analyst.query('commit'), environment };
}

const holds = (pid: number, what = 'referrals') =>
  new RegExp(
    `notebook \\(pid ${pid}, role \\w+\\) holds a lock on ${what}: end its transaction, with "select pg_terminate_backend\\(${pid}\\)" if it was left open`,
    'g',
  );

const OUR_LOCK = `select pg_advisory_xact_lock(hashtextextended('affiliate-mirror load of mirror', 0))`;

test.each([
  [['sync', 'referrals'], undefined, 'referrals'],
  [['sync', 'referrals'], OUR_LOCK, 'a name \\(advisory\\)'],
])(
  '%j says who holds it, once, and goes on when it is free (%s)',
  { timeout: 90_000 },
  async (args, statement, what) => {
    const { lock, unlock, environment } = await makeMirror();
    await runCli(['migrate'], environment);
    const pid = await lock(statement);
    const child = spawnCli(args, environment);
    const ended = once(child, 'close');
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.resume();
    await expect.poll(() => stderr, { timeout: 60_000 }).toContain('affiliate-mirror: waiting: notebook');
    await unlock();
    const [code] = await ended;
    expect(stderr.match(holds(pid, what)), stderr).toHaveLength(1);
    expect(code, stderr).toBe(0);
  },
);

test('a worker logs it', { timeout: 90_000 }, async () => {
  const { lock, unlock, environment } = await makeMirror();
  await runCli(['migrate'], environment);
  const worker = await startCommandWorker({ ...environment, LOG_LEVEL: 'info' });
  const pid = await lock();
  const find = () => worker.lines.find((line) => line.includes('db.waits_for_lock')) ?? '{}';
  await expect.poll(find, { timeout: 60_000 }).not.toBe('{}');
  expect(JSON.parse(find())).toMatchObject({
    level: 40,
    pid,
    application: 'notebook',
    relation: 'referrals',
  });
  await unlock();
  expect(await worker.stop()).toBe(0);
});
