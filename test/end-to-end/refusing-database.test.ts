// A database that answers, and refuses: a standby, one that is read-only, one with too few connections. And defaults of
// a role or a database that payments were not written for.

import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { runCli, runCliAlone } from '../support/run-cli.ts';

const role = `limited_${randomBytes(4).toString('hex')}`;
const closers: (() => Promise<unknown>)[] = [];

const database = await createTestDatabase();
const sandbox = await runSandbox(database.pool, { affiliates: 20, referrals: 100 });
await database.pool.query(`create role ${role} login superuser password 'p'`);

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

afterAll(async () => {
  await sandbox.close();
  await database.pool.query(`drop owned by ${role}; drop role ${role}`);
});

const environment = (url: string) => ({
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
  DATABASE_URL: url,
});

function urlOfRole(): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = 'p';
  return url.href;
}

/** For the test. */
async function alter(whose: string, set: string, back: string): Promise<void> {
  await database.pool.query(`alter ${whose} ${set}`);
  closers.push(() => database.pool.query(`alter ${whose} ${back}`));
}

async function expectOneLine(url: string, args: readonly string[], line: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runCli(args, environment(url));
  expect(stderr, args.join(' ')).toMatch(line);
  expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
  expect({ code, stdout }, args.join(' ')).toEqual({ code: 1, stdout: '' });
}

const WRITERS = [
  ['migrate'],
  ['sync'],
  ['work'],
  ['commissions', 'track', '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11'],
];

describe('A standby', () => {
  let server: OwnPostgres;

  beforeAll(async () => {
    server = await startOwnPostgres();
    await server.stop();
    await server.write('standby.signal', '');
    await server.start();
    return async () => {
      await server.stop();
      await rm(join(server.directory, 'standby.signal'));
    };
  });

  test('status reads from it; what writes says so in one line, and doctor too', async () => {
    for (const args of WRITERS) {
      await expectOneLine(
        server.url,
        args,
        /^affiliate-mirror: .*takes no writes: .*primary server in DATABASE_URL/,
      );
    }
    expect(await runCli(['status'], environment(server.url))).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await runCli(['doctor'], environment(server.url));
    expect(stdout).toMatch(/^✗ rights: the database takes no writes: /m);
    expect(code).toBe(1);
  });
});

test('A database that is lost during --wait is the error, and what was queued is said to stay queued', async () => {
  const { rows } = await database.pool.query('select id from sandbox.commissions limit 1');
  const command = ['commissions', 'due', rows[0].id, '--at', '2026-12-01T00:00:00Z', '--wait'];
  // The only request that the limit allows is another one's, so that the command waits until it is disturbed.
  const limited = { ...environment(urlOfRole()), API_RATE_LIMIT: '1/3600' };
  await runCli(command.with(-1, '--dry-run'), limited);
  const run = runCliAlone(command, limited);
  const claimed = 'select from commission_updates where claimed_by is not null';
  const count = async () => (await database.pool.query(claimed)).rowCount;
  await expect.poll(count, { interval: 20 }).toBe(1);
  await alter(`role ${role}`, 'nologin', 'login');
  let isOver = false;
  const ended = run.finally(() => {
    isOver = true;
  });
  // Again and again: a connection that was let in just before outlives the first time.
  const terminate = 'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1';
  while (!isOver) await Promise.all([database.pool.query(terminate, [role]), sleep(10)]);
  const { code, stderr } = await ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^\S+-due-\S+: how far they came cannot be read now; those pending stay queued: .*; affiliate-mirror commissions cancel \S+-due-\S+ takes back those that were not sent yet\naffiliate-mirror: [^\n]+\n$/m,
  );
});

test('A database that is not in UTF-8: one line that makes another, in which migrate works', async () => {
  const make = async (options: string) => {
    const made = `encoded_${randomBytes(4).toString('hex')}`;
    await database.pool.query(options.replace('NAME', made));
    closers.push(() => database.pool.query(`drop database ${made} with (force)`));
    const url = new URL(database.url);
    url.pathname = `/${made}`;
    return url.href;
  };
  const url = await make(`create database NAME encoding 'SQL_ASCII' locale 'C' template template0`);
  const line = /database encoded_\w+ at \S+ keeps its text as SQL_ASCII, which lacks .*"(create .*)", and/;
  for (const args of [['migrate'], ['sync', '--migrate'], ['work']]) {
    const { code, stdout, stderr } = await runCli(args, environment(url));
    expect(stderr.trimEnd().split('\n'), stderr).toEqual([expect.stringMatching(line)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  }
  const { code, stdout } = await runCli(['doctor'], environment(url));
  expect(stdout).toMatch(new RegExp(`^✗ database: ${line.source}`, 'm'));
  expect(code).toBe(1);
  const [, statement = ''] = line.exec(stdout) ?? [];
  expect(await runCli(['migrate'], environment(await make(statement)))).toMatchObject({ code: 0 });
});

test('A full disk: a sync fails with what to do, and doctor notices it', async () => {
  // What Postgres says of a full disk, said by triggers: no disk is filled here.
  const { pool, url } = await createTestDatabase();
  await pool.query(`
    create function say_full() returns trigger language plpgsql as $$ begin
      raise exception using errcode = 'disk_full', message = 'could not extend file "base/1/2": No space left on device';
    end $$;
    create function say_full_of_table() returns event_trigger language plpgsql as $$ begin
      raise exception using errcode = 'disk_full', message = 'could not extend file "base/1/2": No space left on device';
    end $$;
    create trigger full_disk before insert on mirror.affiliates execute function say_full();
    create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE AS')
      execute function say_full_of_table()`);
  const full =
    'the disk of Postgres is full: make room there, or give it a larger one: could not extend file';
  const synced = await runCli(['sync', 'affiliates'], environment(url));
  expect(synced.code).toBe(1);
  expect(synced.stderr).toContain(`affiliate-mirror: ${full}`);
  const { rows } = await pool.query('select state, error_code from sync_runs');
  expect(rows).toEqual([{ state: 'failed', error_code: 'DB_FULL' }]);
  expect((await runCli(['status'], environment(url))).stdout).toMatch(
    /^Not well: the last sync of affiliates failed \(DB_FULL\): the disk .*\. Run: affiliate-mirror doctor\n {2}If it stays: /,
  );
  const { code, stdout } = await runCli(['doctor'], environment(url));
  expect(stdout).toContain(`✗ rights: ${full}`);
  expect(code).toBe(1);
});

describe('A connection limit', () => {
  async function hold(url: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    closers.push(() => client.end());
  }

  // A superuser is subject to none.
  /** A session counts until Postgres has ended it, which is a moment after its client has. */
  async function limitRole(most: number): Promise<string> {
    const countSessions = async () => {
      const { rows } = await database.pool.query('select from pg_stat_activity where usename = $1', [role]);
      return rows.length;
    };
    await expect.poll(countSessions, { timeout: 10_000 }).toBe(0);
    await alter(`role ${role}`, `connection limit ${most} nosuperuser`, 'connection limit -1 superuser');
    return urlOfRole();
  }

  test('of the role, used up: one line', async () => {
    const url = await limitRole(1);
    await hold(url);
    await expectOneLine(
      url,
      ['status'],
      /^affiliate-mirror: cannot connect to .*no connection is left for this role: .*too many connections for role/m,
    );
  });

  test('too low for a worker: doctor says so beforehand', async () => {
    await alter(`role ${role}`, 'connection limit 5', 'connection limit -1');
    const { code, stdout } = await runCli(['doctor'], environment(urlOfRole()));
    expect(stdout).toMatch(
      /^✗ connections: the role limited_\w+ is limited to 5, and a worker holds up to 12: raise /m,
    );
    expect(code).toBe(1);
  });
});
