// What a connection is like, whatever the role, the database or the address has as its defaults.

import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { refuseReadOnly } from '../../../src/db/access/check-access.ts';
import { checkConnection } from '../../../src/db/connect/check-connection.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';

const log = makeLogger('silent');
const role = `session_${randomBytes(4).toString('hex')}`;
const closers: (() => Promise<unknown>)[] = [];

const database = await createTestDatabase();
await database.pool.query(`create role ${role} login superuser password 'p'`);

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

test.each(['role', 'database'] as const)('A %s that only reads by default is refused', async (whose) => {
  await alter(whose, 'default_transaction_read_only', 'on');
  await expect(refuseReadOnly(open().pool)).rejects.toThrow('default_transaction_read_only is set');
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
});
