// The main job, run as a user runs it: a sync of the sandbox into a real Postgres, looked at from the database.

import { once } from 'node:events';
import type { Pool } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCli, runCliAlone, spawnCli } from '../support/run-cli.ts';

const TABLES = ['campaigns', 'affiliates', 'links', 'referrals', 'sales', 'commissions'];

let program: TestDatabase;
let sandbox: TestSandbox;

beforeAll(async () => {
  program = await createTestDatabase();
  sandbox = await runSandbox(program.pool, { affiliates: 300, referrals: 2_000 });
  return () => sandbox.close();
});

function environment(
  databaseUrl: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: databaseUrl,
    API_RATE_LIMIT: 'none',
    ...more,
  };
}

describe('sync', () => {
  test('mirrors the whole program, verified, and a second one touches no row', async () => {
    const mirror = await createTestDatabase();
    const first = await runCliAlone(['sync', '--json'], environment(mirror.url));
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      runs: [
        {
          resource: 'affiliates',
          state: 'succeeded',
          verified: true,
          rows_inserted: 300,
          total_upstream: 300,
        },
        {
          resource: 'referrals',
          state: 'succeeded',
          verified: true,
          rows_inserted: 2_000,
          total_upstream: 2_000,
        },
      ],
    });
    expect(await count(mirror.pool, 'affiliates')).toBe(300);
    expect(await count(mirror.pool, 'referrals')).toBe(2_000);
    const before = await writesOf(mirror.pool);
    expect(before.find(({ table }) => table === 'referrals')?.written).toBeGreaterThanOrEqual(2_000);

    const second = await runCli(['sync', '--json'], environment(mirror.url));
    expect(second.code, second.stderr).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject({
      runs: [
        { rows_inserted: 0, rows_updated: 0, rows_unchanged: 300 },
        { rows_inserted: 0, rows_updated: 0, rows_unchanged: 2_000 },
      ],
    });
    expect(await writesOf(mirror.pool)).toEqual(before);
  });

  test('stores a malformed referral as rejected, mirrors the 1,999 others, and exits 3', async () => {
    const mirror = await createTestDatabase();
    const id = (await sandbox.referrals('?limit=1&page=1000')).data[0]?.id ?? '';
    const proxy = await startAlteringProxy(sandbox.url, (body) => breakRecord(body, id));
    try {
      const { code, stdout, stderr } = await runCli(
        ['sync'],
        environment(mirror.url, { AFFILIATE_API_URL: proxy.url }),
      );
      expect(code, stderr).toBe(3);
      expect(stdout).toMatch(/rejected .* 0 .* 1 /);
      expect(stdout).toMatch(/inserted .* 300 .* 1,999 /);
      expect(stderr).toMatch(/^affiliate-mirror: referrals: 1 rejected: .*rejected_records/m);
    } finally {
      await proxy.close();
    }
    expect(await count(mirror.pool, 'referrals')).toBe(1_999);
    const { rows } = await mirror.pool.query(
      'select resource, record_id, reason from mirror.rejected_records',
    );
    expect(rows).toEqual([
      { resource: 'referrals', record_id: id, reason: expect.stringContaining('visits') },
    ]);
  });

  test('makes the tables first with --migrate, and keeps two mirrors of one database apart', async () => {
    const mirror = await createTestDatabase();
    for (const schema of ['first_mirror', 'second_mirror']) {
      const resource = schema === 'first_mirror' ? 'affiliates' : 'referrals';
      const { code, stderr } = await runCli(
        ['sync', resource, '--migrate'],
        environment(mirror.url, { MIRROR_SCHEMA: schema }),
      );
      expect(code, stderr).toBe(0);
    }
    expect(await count(mirror.pool, 'sync_runs', 'first_mirror')).toBe(1);
    expect(await count(mirror.pool, 'affiliates', 'first_mirror')).toBe(300);
    expect(await count(mirror.pool, 'referrals', 'first_mirror')).toBe(0);
    expect(await count(mirror.pool, 'sync_runs', 'second_mirror')).toBe(1);
    expect(await count(mirror.pool, 'referrals', 'second_mirror')).toBe(2_000);
    expect(await count(mirror.pool, 'sync_runs')).toBe(0);
    expect(await count(mirror.pool, 'referrals')).toBe(0);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops on %s in one line, and goes on when it is started again', async (signal, exitCode) => {
    const mirror = await createTestDatabase();
    // A budget this small lets the walk begin, and never end within the test.
    const slow = environment(mirror.url, { API_RATE_LIMIT: '2/60' });
    const child = spawnCli(['sync', 'referrals'], slow);
    const stderr: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk.toString()));
    const before = sandbox.requests.length;
    await expect.poll(() => sandbox.requests.length - before).toBe(2);
    const ended = once(child, 'close');
    child.kill(signal);
    expect(await ended).toEqual([exitCode, null]);
    expect(stderr.join('')).toMatch(
      /^affiliate-mirror: stopped by (Ctrl-C|SIGTERM): [\d,]+ of 2,000 referrals were read; the next sync goes on there\n$/m,
    );

    await mirror.pool.query('delete from mirror.request_permits');
    const again = await runCli(['sync', 'referrals'], environment(mirror.url));
    expect(again.code, again.stderr).toBe(0);
    expect(await count(mirror.pool, 'referrals')).toBe(2_000);
  });

  test('status shows the freshness and the runs, as text and as JSON', async () => {
    const mirror = await createTestDatabase();
    const none = await runCliAlone(['status'], environment(mirror.url));
    expect(none.code, none.stderr).toBe(0);
    expect(none.stdout).toContain('never synced');
    await runCli(['sync', 'affiliates'], environment(mirror.url));
    const { stdout } = await runCli(['status', '--json'], environment(mirror.url));
    expect(JSON.parse(stdout)).toMatchObject({
      resources: [
        { resource: 'affiliates', last_run_state: 'succeeded', rejected_records: 0, deletions_held_back: 0 },
        { resource: 'referrals', changes_as_of: null, last_run_state: null },
      ],
      last_runs: [{ resource: 'affiliates', state: 'succeeded', verified: true, rows_inserted: 300 }],
      budget: { paused_until: null, last_throttled_at: null },
    });
    expect((await runCli(['status'], environment(mirror.url))).stdout).toMatch(/affiliates .* succeeded /);
  });
});

function breakRecord(body: string, id: string): string {
  const envelope = JSON.parse(body) as { data?: { id: string; visits: unknown }[] };
  for (const record of envelope.data ?? []) if (record.id === id) record.visits = 'many';
  return JSON.stringify(envelope);
}

async function count(pool: Pool, table: string, schema = 'mirror'): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*) from ${schema}.${table}`);
  return rows[0]?.count ?? -1;
}

/** What Postgres itself counted: rows inserted, updated and deleted, and which version of each row is current. */
async function writesOf(pool: Pool): Promise<{ table: string; written: number; versions: string | null }[]> {
  // A backend reports its counts when it ends, which is a moment after its client did.
  await expect
    .poll(
      async () =>
        (
          await pool.query(
            `select from pg_stat_activity where application_name like 'affiliate-mirror%' and datname = current_database()`,
          )
        ).rows,
    )
    .toEqual([]);
  const writes = [];
  for (const table of TABLES) {
    const { rows } = await pool.query<{ written: number; versions: string | null }>(
      `select (select n_tup_ins + n_tup_upd + n_tup_del from pg_stat_user_tables
                where schemaname = 'mirror' and relname = '${table}') as written,
              (select md5(string_agg(id || ctid || xmin, ',' order by id)) from mirror.${table}) as versions`,
    );
    writes.push({ table, written: rows[0]?.written ?? -1, versions: rows[0]?.versions ?? null });
  }
  return writes;
}
