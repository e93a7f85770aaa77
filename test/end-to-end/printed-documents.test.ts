// What the commands print for programs, against the published schemas, whatever became of the command.

import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readDocument as read } from '../schemas/read-document.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCli, runCliAlone, spawnCli } from '../support/run-cli.ts';

let mirror: TestDatabase;
let sandbox: TestSandbox;

beforeAll(async () => {
  mirror = await createTestDatabase();
  sandbox = await runSandbox(mirror.pool, { affiliates: 40, referrals: 900 });
  return () => sandbox.close();
});

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
    LOG_LEVEL: 'error',
    ...more,
  };
}

describe('sync --json', () => {
  test('carries runs that succeeded, with their times', async () => {
    const { code, stdout } = await runCli(['sync', '--json'], environment());
    expect(code).toBe(0);
    const { runs } = read('sync', stdout);
    expect(runs).toMatchObject([
      { resource: 'affiliates', state: 'succeeded', error_code: null, rows_inserted: 40 },
      { resource: 'referrals', state: 'succeeded', error_code: null, rows_inserted: 900 },
    ]);
    const times = runs.flatMap((run: { started_at: string; finished_at: string }) => [
      Date.parse(run.started_at),
      Date.parse(run.finished_at),
    ]);
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));
    read('sync', (await runCli(['sync', '--mode', 'delta', '--json'], environment())).stdout);
  });

  test('carries a run that failed, with its code and how far it came', async () => {
    let pages = 0;
    const proxy = await startAlteringProxy(sandbox.url, (body) => {
      pages += 1;
      return pages < 5 ? body : '<html>';
    });
    try {
      const failing = environment({ AFFILIATE_API_URL: proxy.url });
      const { code, stdout, stderr } = await runCli(['sync', '--json'], failing);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^affiliate-mirror: /m);
      const { runs } = read('sync', stdout);
      expect(runs).toMatchObject([
        { resource: 'affiliates', state: 'succeeded' },
        {
          resource: 'referrals',
          state: 'failed',
          error_code: 'CONTRACT_VIOLATION',
          reason: expect.any(String),
          verified: false,
          total_upstream: 900,
        },
      ]);
      expect(runs[1].rows_seen).toBeGreaterThan(0);
      expect(runs[1].rows_seen).toBeLessThan(900);
      const { rows } = await mirror.pool.query(
        'select id, state, error_code, rows_seen, requests from sync_runs order by id desc limit 1',
      );
      const { id, state, error_code, rows_seen, requests } = runs[1];
      expect(rows).toEqual([{ id, state, error_code, rows_seen, requests }]);
    } finally {
      await proxy.close();
    }
  });

  test('has no run whose end could not be noted, since Postgres went away: the error says why', async () => {
    const gone = await createTestDatabase();
    const client = await gone.pool.connect();
    let leaving: Promise<unknown> | undefined;
    const countStored = async () => {
      const { rows } = await client.query<{ rows_seen: number }>('select rows_seen from sync_runs');
      return rows[0]?.rows_seen ?? 0;
    };
    const leaveOnceStored = async () => {
      await expect.poll(countStored, { timeout: 20_000 }).toBeGreaterThan(0);
      await leave(new URL(gone.url).pathname.slice(1));
    };
    // Answered once Postgres is gone: else the run might fail of that answer while it can still be noted.
    const proxy = await startAlteringProxy(sandbox.url, async (body) => {
      if (!body.includes('"current_page":5')) return body;
      leaving ??= leaveOnceStored();
      await leaving;
      return '<html>';
    });
    try {
      const there = environment({ AFFILIATE_API_URL: proxy.url, DATABASE_URL: gone.url });
      const { code, stdout, stderr } = await runCli(['sync', 'referrals', '--json'], there);
      await leaving;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^affiliate-mirror: /m);
      const { rows } = await client.query('select id, state, rows_seen from sync_runs');
      expect(rows).toMatchObject([{ state: 'running' }]);
      expect(read('sync', stdout).runs).toEqual([]);
      expect(rows[0].rows_seen).toBeGreaterThan(0);
    } finally {
      client.release(true);
      await proxy.close();
    }
  });

  test('carries a run that was interrupted, with how far it came', async () => {
    const child = spawnCli(['sync', 'affiliates', '--json'], environment({ API_RATE_LIMIT: '1/60' }));
    const printed = text(child.stdout);
    const before = sandbox.requests.length;
    await expect.poll(() => sandbox.requests.length - before).toBe(1);
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    const { runs } = read('sync', await printed);
    expect(runs).toMatchObject([
      { resource: 'affiliates', state: 'interrupted', error_code: null, requests: 1, verified: false },
    ]);
    const status = await runCli(['status', '--json'], environment());
    expect(read('status', status.stdout)).toMatchObject({
      is_well: false,
      concerns: [
        { code: 'sync_failed', resource: 'referrals', fix: 'affiliate-mirror doctor' },
        { code: 'sync_interrupted', resource: 'affiliates', fix: 'affiliate-mirror sync affiliates' },
      ],
    });
    await mirror.pool.query('delete from request_permits');
  });

  test('carries a run that was left to another process, and exits with 4', async () => {
    const client = await mirror.pool.connect();
    try {
      await client.query(
        `select pg_advisory_lock(hashtextextended('affiliate-mirror run of affiliates in ' || current_schema(), 0))`,
      );
      const { code, stdout, stderr } = await runCli(['sync', '--json'], environment());
      expect(code).toBe(4);
      expect(stderr).toMatch(
        /^affiliate-mirror: affiliates: not synced: another sync of affiliates is running/m,
      );
      expect(read('sync', stdout).runs).toMatchObject([
        { resource: 'affiliates', state: 'skipped', reason: expect.stringContaining('another sync') },
        { resource: 'referrals', state: 'succeeded' },
      ]);
    } finally {
      client.release(true);
    }
  });
});

/** Ends the sync's connections to the database, and refuses it every other one. */
async function leave(name: string): Promise<void> {
  await mirror.pool.query(`alter database ${name} allow_connections false`);
  await mirror.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = $1 and application_name = 'affiliate-mirror sync'`,
    [name],
  );
}

test('two syncs at once share the work, and neither says that it failed', async () => {
  const both = await Promise.all([1, 2].map(() => runCliAlone(['sync', '--json'], environment())));
  const runs = both.flatMap(({ code, stdout }) => {
    const states: string[] = read('sync', stdout).runs.map(({ state }: { state: string }) => state);
    expect(code).toBe(states.includes('skipped') ? 4 : 0);
    return JSON.parse(stdout).runs;
  });
  for (const resource of ['affiliates', 'referrals']) {
    expect(runs).toContainEqual(expect.objectContaining({ resource, state: 'succeeded' }));
  }
});

test('status --json carries what is wrong, and every figure', async () => {
  await mirror.pool.query(
    `insert into commission_updates (commission_id, batch_id, action) values ('0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11', 'october', 'unpay')`,
  );
  const { code, stdout } = await runCli(['status', '--json'], environment());
  expect(code).toBe(0);
  const { is_well, concerns, payments } = read('status', stdout);
  expect([is_well, concerns]).toEqual([true, []]);
  expect(payments).toMatchObject({ states: [{ state: 'pending', requests: 1 }] });
});

test('doctor --json carries every check, also those that could not be made', async () => {
  const well = await runCli(['doctor', '--json'], environment());
  expect(read('doctor', well.stdout)).toMatchObject({ is_well: false, failed: 1 });
  await runCli(['migrate'], environment());
  const migrated = await runCli(['doctor', '--json'], environment());
  expect(migrated.code).toBe(0);
  const { is_well, checks, made, failed } = read('doctor', migrated.stdout);
  expect([is_well, made, failed]).toEqual([true, checks.length, 0]);
  const broken = await runCli(['doctor', '--json'], environment({ LOG_LEVEL: 'loud' }));
  expect(broken.code).toBe(2);
  expect(read('doctor', broken.stdout)).toMatchObject({
    made: 1,
    failed: 1,
    checks: [
      { state: 'failed', says: [expect.stringContaining('LOG_LEVEL')] },
      ...Array(7).fill({ state: 'not_checked' }),
    ],
  });
});

test('migrate --json says which migrations apply, and --dry-run applies none of them', async () => {
  const anew = environment({ MIRROR_SCHEMA: 'anew' });
  const dry = await runCli(['migrate', '--dry-run', '--json'], anew);
  expect(dry.code).toBe(0);
  const would = read('migrate', dry.stdout);
  expect(would).toMatchObject({ dry_run: true, queue_is_up_to_date: false, queue_schema: 'anew_queue' });
  expect(would.migrations.length).toBeGreaterThan(5);
  const { rows } = await mirror.pool.query(`select from pg_namespace where nspname like 'anew%'`);
  expect(rows).toEqual([]);

  const { stdout } = await runCli(['migrate', '--json'], anew);
  expect(read('migrate', stdout).migrations).toEqual(would.migrations);
  const again = await runCli(['migrate', '--dry-run', '--json'], anew);
  expect(read('migrate', again.stdout)).toMatchObject({ migrations: [], queue_is_up_to_date: true });
  expect((await runCli(['migrate', '--dry-run'], anew)).stdout).toMatch(
    /^schema anew in .* is up to date\n$/,
  );
});

test('deletions list --json and accept --json carry what is held back', async () => {
  await mirror.pool.query(
    `insert into held_back_deletions (resource, record_id, run_id) select 'referrals', id, 1 from referrals limit 2`,
  );
  const { stdout } = await runCli(['deletions', 'list', '--json'], environment());
  expect(read('deletions-list', stdout).held_back).toHaveLength(2);
  const accepted = await runCli(['deletions', 'accept', 'referrals', '--json'], environment());
  expect(read('deletions-accept', accepted.stdout)).toEqual({ resource: 'referrals', accepted: 2 });
});
