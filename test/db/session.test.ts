// What a connection is like, whatever the role, the database or the address has as its defaults.

import { randomBytes } from 'node:crypto';
import pg, { type Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { refuseReadOnly } from '../../src/db/check-access.ts';
import { checkConnection } from '../../src/db/check-connection.ts';
import { makePool } from '../../src/db/pool.ts';
import { makeSetUp, readSession } from '../../src/db/session.ts';
import { makeLogger } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';

const log = makeLogger('silent');
const role = `session_${randomBytes(4).toString('hex')}`;
const closers: (() => Promise<unknown>)[] = [];
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(`create role ${role} login superuser password 'p'`);
});

afterAll(() => database.pool.query(`drop owned by ${role}; drop role ${role}`));

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function open({ options = '', max = 1 } = {}) {
  const url = new URL(database.url);
  url.username = role;
  url.password = 'p';
  if (options !== '') url.searchParams.set('options', options);
  const pool = makePool({ log }, { url: url.href, schema: 'mirror', max, applicationName: 'session-test' });
  closers.push(() => pool.end());
  return { pool, url: url.href };
}

/** For the test, of the role or the database. */
async function alter(whose: 'role' | 'database', name: string, value: string): Promise<void> {
  const of = whose === 'role' ? `role ${role}` : `database ${new URL(database.url).pathname.slice(1)}`;
  await database.pool.query(`alter ${of} set ${name} = ${value}`);
  closers.push(() => database.pool.query(`alter ${of} reset ${name}`));
}

describe.each(['role', 'database'] as const)('Defaults of the role or the database: %s', (whose) => {
  test.each([
    ['TimeZone', `'Asia/Tokyo'`, 'UTC'],
    ['DateStyle', `'German, DMY'`, 'ISO, MDY'],
    ['IntervalStyle', 'iso_8601', 'postgres'],
    ['bytea_output', 'escape', 'hex'],
    ['extra_float_digits', '0', '1'],
    ['quote_all_identifiers', 'on', 'off'],
    ['search_path', 'public', 'mirror, mirror_reports'],
    ['default_transaction_isolation', 'serializable', 'read committed'],
    ['default_transaction_deferrable', 'on', 'off'],
    ['statement_timeout', '1000', '0'],
    ['lock_timeout', '1', '0'],
    ['idle_session_timeout', '1000', '0'],
    ['idle_in_transaction_session_timeout', '0', '5s'],
    ['client_connection_check_interval', '0', '1s'],
    ['tcp_user_timeout', '0', '60000'],
    ['synchronous_commit', 'off', 'on'],
    ['row_security', 'on', 'off'],
  ])('%s %s does not matter', async (name, given, wanted) => {
    await alter(whose, name, given);
    const { pool } = open();
    const { rows } = await pool.query('select current_setting($1) as value', [name]);
    expect(rows).toEqual([{ value: wanted }]);
  });
});

test.each(['local', 'remote_write', 'remote_apply'])(
  'A commit that waits for what the role chose goes on doing so: synchronous_commit %s',
  async (chosen) => {
    await alter('role', 'synchronous_commit', chosen);
    expect((await open().pool.query('show synchronous_commit')).rows).toEqual([
      { synchronous_commit: chosen },
    ]);
  },
);

// Postgres refuses the setting where its system cannot tell whether a client is gone.
test.each([
  ['PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc', '1s'],
  ['PostgreSQL 18.4 on aarch64-apple-darwin23.6.0, compiled by Apple clang', '1s'],
  ['PostgreSQL 16.3, compiled by Visual C++ build 1938, 64-bit', '0'],
  ['PostgreSQL 18.6 on x86_64-windows, compiled by msvc-19.44.35228, 64-bit', '0'],
])(
  'A statement of a process that is gone is looked for where that can be seen: %s: %s',
  async (version, set) => {
    await database.pool.query(`create schema fake;
    create function fake.version() returns text language sql as $$ select '${version}' $$`);
    closers.push(() => database.pool.query('drop schema fake cascade'));
    await alter('role', 'search_path', 'fake, pg_catalog');
    const { rows } = await open().pool.query('show client_connection_check_interval');
    expect(rows).toEqual([{ client_connection_check_interval: set }]);
  },
);

test('A role that reads only by default writes; a database that does is left read-only', async () => {
  await alter('role', 'default_transaction_read_only', 'on');
  const first = open();
  await refuseReadOnly(first.pool);
  await first.pool.query('create table mirror.written (a int)');
  await alter('database', 'default_transaction_read_only', 'on');
  await database.pool.query(`alter role ${role} reset default_transaction_read_only`);
  const second = open();
  await expect(refuseReadOnly(second.pool)).rejects.toThrow('default_transaction_read_only is set');
  await expect(second.pool.query('create table mirror.again (a int)')).rejects.toMatchObject({
    code: '25006',
  });
});

describe('As a replica, for which no trigger fires, a connection is refused', () => {
  const says =
    'session_replication_role is replica, so that Postgres would keep no history and check no payment: reset it';

  test.each(['role', 'database'] as const)('set for the %s, until it is reset', async (whose) => {
    await alter(whose, 'session_replication_role', 'replica');
    const { pool, url } = open();
    const name = whose === 'role' ? role : new URL(url).pathname.slice(1);
    await expect(checkConnection(pool, url)).rejects.toMatchObject({
      name: 'AccessRefused',
      message: expect.stringContaining(says),
    });
    await expect(pool.query('select 1')).rejects.toThrow(says);
    await database.pool.query(`alter ${whose} ${name} reset session_replication_role`);
    await checkConnection(pool, url);
  });

  test('set by the address', async () => {
    const { pool } = open({ options: '-c session_replication_role=replica' });
    await expect(pool.query('select 1')).rejects.toThrow(says);
  });

  test('as local, triggers fire', async () => {
    await alter('role', 'session_replication_role', 'local');
    await open().pool.query('select 1');
  });
});

test('A server that turns read-only and back is as it is at the moment, also to connections of before', async () => {
  const server = await startOwnPostgres();
  const options = new URL(server.url);
  options.searchParams.set('options', '-c default_transaction_read_only=off');
  const [admin, worker] = [options.href, server.url].map((url) =>
    makePool({ log }, { url, schema: 'mirror', max: 1, applicationName: 'session-test' }),
  ) as [Pool, Pool];
  closers.push(() => Promise.all([admin.end(), worker.end()]));
  const turn = async (value: string) => {
    await admin.query(`alter system ${value}`);
    await admin.query('select pg_reload_conf()');
  };
  await refuseReadOnly(worker);
  for (const isNew of [false, true]) {
    await turn('set default_transaction_read_only = on');
    if (isNew) await worker.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {});
    await expect.poll(() => refuseReadOnly(worker).catch(String)).toContain('the database takes no writes');
    await turn('reset default_transaction_read_only');
    // Long before the connection would be made anew anyway.
    await expect.poll(() => refuseReadOnly(worker).catch(String), { timeout: 10_000 }).toBe(undefined);
    await worker.query('create table mirror.written (a int)');
    await worker.query('drop table mirror.written');
  }
});

test('A time-out that the address itself sets is kept', async () => {
  const { pool } = open({ options: '-c statement_timeout=12345 -c lock_timeout=77' });
  const { rows } = await pool.query(`
    select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
           current_setting('idle_session_timeout') as idle`);
  expect(rows).toEqual([{ statement: '12345ms', lock: '77ms', idle: '0' }]);
});

test.each([
  ['-c deadlock_timeout=2s', '0'],
  ['-clock_timeout=77', '77ms'],
  ['--lock-timeout=77', '77ms'],
  ['-c LOCK_TIMEOUT=77', '77ms'],
])(
  'With the options %s in the address, the lock_timeout is %s, whatever the role has',
  async (options, wanted) => {
    await alter('role', 'lock_timeout', '55');
    const { pool } = open({ options });
    expect((await pool.query('show lock_timeout')).rows).toEqual([{ lock_timeout: wanted }]);
  },
);

test('Behind a pooler, nothing is set before it is known to keep a connection to itself', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  closers.push(() => client.end());
  // As a pooler does: it names a pid of its own making.
  Object.assign(client, { processID: 1 });
  const readPath = async () => (await client.query('show search_path')).rows[0]?.search_path;
  const before = await readPath();
  const seen: unknown[] = [];
  const refuse = makeSetUp({ schema: 'mirror', options: '' }, async () => {
    seen.push(await readPath());
    throw new Error('it shares connections');
  });
  await expect(refuse(client)).rejects.toThrow('it shares connections');
  expect(await readPath()).toBe(before);
  const accept = makeSetUp({ schema: 'mirror', options: '' }, async () => {
    seen.push(await readPath());
  });
  await accept(client);
  expect(seen).toEqual([before, before]);
  expect(await readPath()).toBe('mirror, mirror_reports');
  expect(readSession(client)).toMatchObject({ isPooled: true });
});

test('every connection of a pool is set up before anybody uses it, in one statement', async () => {
  const { pool } = open({ max: 3 });
  const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  for (const client of clients) {
    expect(readSession(client)).toMatchObject({ role, isPooled: false });
    expect((await client.query('show search_path')).rows).toEqual([
      { search_path: 'mirror, mirror_reports' },
    ]);
    client.release();
  }
  const { rows } = await database.pool.query(
    `select query from pg_stat_activity where application_name = 'session-test'`,
  );
  expect(rows).toHaveLength(3);
});

test('a connection that cannot be set up is closed, and the next one is tried', async () => {
  await database.pool.query(`create schema if not exists blocking`);
  await database.pool.query(`
    create or replace function blocking.pg_backend_pid() returns int language plpgsql
    as $$ begin raise exception 'not set up'; end $$`);
  // Of all that a session's set-up calls, a schema before pg_catalog can replace it.
  await alter('role', 'search_path', 'blocking, pg_catalog');
  const { pool } = open();
  await expect(pool.query('select 1')).rejects.toThrow('not set up');
  await database.pool.query('drop schema blocking cascade');
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  expect(pool.totalCount).toBe(1);
});
