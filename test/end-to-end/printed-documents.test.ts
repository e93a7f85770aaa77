// What the commands print for programs, against the published schemas, whatever became of the command.

import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { readDocument as read } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';

const mirror = await createTestDatabase();
const sandbox = await runSandbox(mirror.pool, { affiliates: 40, referrals: 900 });

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
      { resource: 'affiliates', state: 'succeeded', verified: true, error_code: null, rows_inserted: 40 },
      { resource: 'referrals', state: 'succeeded', verified: true, error_code: null, rows_inserted: 900 },
    ]);
    const times = runs.flatMap((run: { started_at: string; finished_at: string }) => [
      Date.parse(run.started_at),
      Date.parse(run.finished_at),
    ]);
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));
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
        { code: 'sync_failed', resource: 'referrals', fix: 'affiliate-mirror sync referrals' },
        { code: 'sync_interrupted', resource: 'affiliates', fix: 'affiliate-mirror sync affiliates' },
      ],
    });
    await mirror.pool.query('delete from request_permits');
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

test('doctor --json carries every check, also those that could not be made', async () => {
  const well = await runCli(['doctor', '--json'], environment());
  expect(read('doctor', well.stdout)).toMatchObject({ is_well: false, failed: 1 });
  await runCli(['migrate'], environment());
  const migrated = await runCli(['doctor', '--json'], environment({ SYNC_TIMEZONE: 'Europe/Berlin' }));
  expect(migrated.code).toBe(0);
  const { is_well, checks, made, failed } = read('doctor', migrated.stdout);
  expect([is_well, made, failed]).toEqual([true, checks.length, 0]);
  expect(checks.find(({ subject }: { subject: string }) => subject === 'schedules')?.says).toEqual([
    expect.stringMatching(
      /SYNC_FULL_CRON \(0 2 \* \* \*\) at [\d-]+ 02:00 Europe\/Berlin \([\d-]*\s?0[01]:00 UTC\)/,
    ),
  ]);
  const never = await runCli(['doctor', '--json'], environment({ SYNC_FULL_CRON: '0 0 31 2,4 *' }));
  expect(never.code).toBe(2);
  expect(never.stdout).toContain('the schedule sync-full is never due');
  const broken = await runCli(['doctor', '--json'], environment({ LOG_LEVEL: 'loud' }));
  expect(broken.code).toBe(2);
  expect(read('doctor', broken.stdout)).toMatchObject({
    made: 1,
    failed: 1,
    checks: [
      { state: 'failed', says: [expect.stringContaining('LOG_LEVEL')] },
      ...Array(8).fill({ state: 'not_checked' }),
    ],
  });
});

test('migrate --json says which migrations apply, and --dry-run applies none of them', async () => {
  const anew = environment({ MIRROR_SCHEMA: 'anew' });
  const would = read('migrate', (await runCli(['migrate', '--dry-run', '--json'], anew)).stdout);
  expect(would).toMatchObject({ dry_run: true, queue_schema: 'anew_queue' });
  const { rows } = await mirror.pool.query(`select from pg_namespace where nspname like 'anew%'`);
  expect(rows).toEqual([]);
  const { migrations } = read('migrate', (await runCli(['migrate', '--json'], anew)).stdout);
  expect(migrations).toEqual(would.migrations);
  expect((await runCli(['migrate', '--dry-run'], anew)).stdout).toMatch(
    /^schema anew in .* is up to date\n$/,
  );
});
