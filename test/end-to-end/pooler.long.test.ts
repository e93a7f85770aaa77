// Postgres behind PgBouncer, with the configuration that Debian brings: in session mode everything works; in the other
// modes nothing is done, and one line says what to connect to.

import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { type PoolMode, startPgBouncer } from '../support/pgbouncer.ts';
import { runCli } from '../support/run-cli.ts';

const PAID_AT = '2026-10-01T12:00:00Z';

const program = await createTestDatabase();
const sandbox = await runSandbox(program.pool, { affiliates: 30, referrals: 300 });
const database = await createTestDatabase();

const environment = (url: string): Record<string, string> => ({
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
  DATABASE_URL: url,
});

async function unpaid(): Promise<string> {
  const { rows } = await program.pool.query<{ id: string }>(
    'select id from sandbox.commissions where paid_at is null and voided_at is null order by random() limit 1',
  );
  return rows[0]?.id ?? '';
}

/** What a pooler's connections were left with, that other programs would find. */
async function pooledSettings(url: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select current_setting('search_path') as search_path, current_setting('idle_in_transaction_session_timeout') as idle`,
  );
  await client.end();
  return rows;
}

const UNTOUCHED = [{ search_path: '"$user", public', idle: '0' }];

describe('PgBouncer in session mode', () => {
  test('migrate, sync, status, doctor and payments work', async () => {
    const url = await startPgBouncer(database.url, 'session');
    await database.pool.query('drop schema mirror cascade');
    for (const args of [['migrate'], ['sync'], ['sync', '--mode', 'delta'], ['status']]) {
      const run = await runCli(args, environment(url));
      expect(run, args.join(' ')).toMatchObject({ code: 0 });
    }
    const { pool } = database;
    expect(await readMirror(pool)).toEqual(await readProgram(sandbox));
    const id = await unpaid();
    const pay = await runCli(['commissions', 'pay', id, '--at', PAID_AT, '--wait'], environment(url));
    expect(pay).toMatchObject({ code: 0 });
    expect((await sandbox.commission(id)).paid_at).toContain('2026-10-01T12:00:00');
    const doctor = await runCli(['doctor'], environment(url));
    expect(doctor.stdout).toMatch(/^✓ database: .* answers, through a pooler in session mode$/m);
    expect(doctor.code).toBe(0);
    expect(await pooledSettings(url)).toEqual(UNTOUCHED);
  });

  test('a worker works', async () => {
    const given = environment(await startPgBouncer(database.url, 'session'));
    expect(await runCli(['migrate'], given)).toMatchObject({ code: 0 });
    const worker = await startCommandWorker(given);
    const id = await unpaid();
    await database.pool.query(
      `insert into commission_updates (commission_id, action, paid_at) values ($1, 'pay', $2)`,
      [id, PAID_AT],
    );
    const state = async () =>
      (await database.pool.query('select state from commission_updates where commission_id = $1', [id])).rows;
    await expect.poll(state).toEqual([{ state: 'applied' }]);
    expect(await worker.readyz()).toEqual({ database: 'ok', rights: 'ok', migrations: 'ok', queue: 'ok' });
    expect(await worker.stop()).toBe(0);
    expect(worker.lines.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});

describe('PgBouncer that shares connections out', () => {
  const ONE_LINE =
    'DATABASE_URL leads to a pooler in transaction or statement mode, where locks, LISTEN and settings of a connection do not last: name the server itself, or a pool in session mode';

  test.each<[string, PoolMode, Readonly<Record<string, number>>]>([
    ['transaction mode', 'transaction', {}],
    ['transaction mode with one connection', 'transaction', { default_pool_size: 1 }],
    ['statement mode', 'statement', {}],
  ])('%s is refused, and nothing is set there', async (_name, mode, more) => {
    const url = await startPgBouncer(database.url, mode, more);
    for (const command of ['migrate', 'sync', 'work', 'status']) {
      const { code, stdout, stderr } = await runCli([command], environment(url));
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: `affiliate-mirror: ${ONE_LINE}\n`,
      });
    }
    const doctor = await runCli(['doctor'], environment(url));
    expect(doctor.stdout).toContain(`✗ database: ${ONE_LINE}\n`);
    expect(doctor.code).toBe(1);
    expect(await pooledSettings(url)).toEqual(UNTOUCHED);
  });
});

describe('PgBouncer without room', () => {
  test('one connection in session mode: one line that names the setting', async () => {
    const url = await startPgBouncer(database.url, 'session', { default_pool_size: 1 });
    const { code, stderr } = await runCli(['status'], environment(url));
    expect(stderr).toMatch(/^affiliate-mirror: .*lets us in, and does not answer.*default_pool_size.*\n$/);
    expect(code).toBe(1);
  });

  test('startup options in the address: one line that says to leave them out', async () => {
    const url = new URL(await startPgBouncer(database.url, 'session'));
    url.searchParams.set('options', '-c statement_timeout=1000');
    const { code, stderr } = await runCli(['status'], environment(url.href));
    expect(stderr).toMatch(
      /^affiliate-mirror: cannot connect to .*check DATABASE_URL: unsupported startup parameter.*\n$/,
    );
    expect(code).toBe(1);
  });
});
