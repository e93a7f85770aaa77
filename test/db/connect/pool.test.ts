import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { describeError } from '../../../src/base/describe-error.ts';
import { DatabaseUnreachable } from '../../../src/base/errors.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { checkConnection } from '../../../src/db/connect/check-connection.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import type { Pool } from '../../../src/db/connect/shared-pool.ts';
import { createTestDatabase } from '../../support/database.ts';

const pools: Pool[] = [];

afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())));

function poolOn(url: string, schema = 'mirror'): Pool {
  const pool = makePool({ log: makeLogger('silent') }, { url, schema, max: 2, applicationName: 'pool-test' });
  pools.push(pool);
  return pool;
}

test('a connection works in the schema and in UTC, without a time-out', async () => {
  const { url } = await createTestDatabase();
  const pool = poolOn(url, 'select');
  const answer = await pool.query(`
    select current_setting('search_path') as search_path, current_setting('timezone') as timezone,
           current_setting('statement_timeout') as timeout, current_setting('application_name') as name`);
  expect(answer.rows).toEqual([
    { search_path: 'select, select_reports', timezone: 'UTC', timeout: '0', name: 'pool-test' },
  ]);
});

// A server whose machine lost its power says nothing, and a statement that waits for its answer sends nothing: only the
// system's own probes of a silent connection find out. By itself, Linux begins them after two hours.
test.runIf(process.platform === 'linux')(
  'a connection on which nothing is said for half a minute is probed',
  async () => {
    const { pool } = await createTestDatabase();
    const { rows } = await pool.query<{ port: number }>('select inet_client_port() as port');
    const port = (rows[0]?.port ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const own = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .find(([, local]) => local?.endsWith(`:${port}`));
    const [timer, hundredths] = (own?.[5] ?? '').split(':');
    // Source: proc_net_tcp of the kernel's documentation: 2 is the timer of keepalive probes.
    expect(timer).toBe('02');
    expect(Number.parseInt(hundredths ?? '', 16)).toBeLessThanOrEqual(30_00);
  },
);

test('bigint is a number, timestamps keep their microseconds, and a number that would be distorted is an error', async () => {
  const { pool } = await createTestDatabase();
  const answer = await pool.query(`
    select 9007199254740991 as big, '2026-01-02 03:04:05.678901+02'::timestamptz as time,
           '{"a": 1}'::json as json, 1.10::numeric as exact`);
  expect(answer.rows).toEqual([
    { big: 9007199254740991, time: '2026-01-02T01:04:05.678901Z', json: { a: 1 }, exact: '1.10' },
  ]);
  await expect(pool.query('select 9007199254740993')).rejects.toThrow(
    'which a JavaScript number cannot hold',
  );
});

test('an array of bigint is an array of numbers, and one that would be distorted is an error', async () => {
  const { pool } = await createTestDatabase();
  const answer = await pool.query(`
    select '{}'::bigint[] as none, '{7}'::bigint[] as one, array[]::bigint[] as empty,
           '{1,-2,0,9007199254740991,-9007199254740991}'::bigint[] as many, null::bigint[] as missing`);
  expect(answer.rows).toEqual([
    { none: [], one: [7], empty: [], many: [1, -2, 0, 9007199254740991, -9007199254740991], missing: null },
  ]);
  for (const distorted of ['{9007199254740993}', '{1,2,-9007199254740993}']) {
    await expect(pool.query('select $1::bigint[]', [distorted])).rejects.toThrow(
      'which a JavaScript number cannot hold',
    );
  }
});

test('an array of bigint that holds a null or arrays is an error, not some other list of numbers', async () => {
  const { pool } = await createTestDatabase();
  for (const odd of ['{1,NULL,3}', '{{1,2},{3,4}}', '[0:1]={1,2}']) {
    await expect(pool.query('select $1::bigint[]', [odd])).rejects.toThrow();
  }
});

async function failureOf(url: string): Promise<string> {
  const error: unknown = await checkConnection(poolOn(url), url).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DatabaseUnreachable);
  return describeError(error);
}

test('a server that is too old is named with its version, and with the one that is needed', async () => {
  const { url, pool } = await createTestDatabase();
  const database = new URL(url).pathname.slice(1);
  // It says that it is of version 14: what it is asked with comes from a schema before Postgres' own.
  await pool.query(`
    create schema old;
    create function old.current_setting(name text) returns text language sql as $$
      select case name when 'server_version_num' then '140012' else pg_catalog.current_setting(name) end
    $$;
    alter database ${database} set search_path = old, pg_catalog`);
  expect(await failureOf(url)).toBe(
    `database ${database} at ${new URL(url).host} runs Postgres 14: version 15 or newer is needed`,
  );
});

test('a database that cannot be reached is named with how to fix it, and never with the password', async () => {
  const { url } = await createTestDatabase();
  await checkConnection(poolOn(url), url);

  const missing = new URL(url);
  missing.pathname = '/no_such_database';
  expect(await failureOf(missing.href)).toBe(
    `cannot connect to database no_such_database at ${missing.host}: check DATABASE_URL: database "no_such_database" does not exist`,
  );

  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  server.close();
  await once(server, 'close');
  const refused = await failureOf(`postgres://me:s3cret@127.0.0.1:${port}/books`);
  expect(refused).toBe(
    `cannot connect to database books at 127.0.0.1:${port}: check that Postgres runs there and that DATABASE_URL names it: connect ECONNREFUSED 127.0.0.1:${port}`,
  );
  expect(refused).not.toContain('s3cret');
});
