// Which addresses of a Postgres are accepted, what is made of them, and that no message tells a password.

import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { readConfig } from '../../src/config/config.ts';
import { readDatabaseUrl } from '../../src/config/process/database-url.ts';

function problemOf(address: string): string {
  try {
    readConfig({ DATABASE_URL: address });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n');
    throw error;
  }
  throw new Error(`accepted: ${address}`);
}

const NONE = { host: null, port: null, user: null, password: null, database: null, options: null };

test.each([
  ['postgres://u:p@db.example.com:6543/books', 'db.example.com', 6543, 'u', 'p', 'books'],
  ['postgresql://u:p%23%2F%3F%40%25@h/d', 'h', null, 'u', 'p#/?@%', 'd'],
  // More than one: the last one ends the password.
  ['postgres://u:p@ss@h/d', 'h', null, 'u', 'p@ss', 'd'],
  ['postgres://[::1]:5433/d', '::1', 5433, null, null, 'd'],
  ['postgres://u@/d?host=/run/postgresql&port=5433', '/run/postgresql', 5433, 'u', null, 'd'],
  ['postgresql:///d?host=/run/postgresql', '/run/postgresql', null, null, null, 'd'],
  ['postgres://%2Frun%2Fpostgresql/d', '/run/postgresql', null, null, null, 'd'],
  ['postgres://?host=h&user=u&password=p%23&dbname=d', 'h', null, 'u', 'p#', 'd'],
  ['postgres://u+v:p+q@h/d+e', 'h', null, 'u+v', 'p+q', 'd+e'],
  ['postgres://h/d?user=u+v&password=p+q%2B=', 'h', null, 'u+v', 'p+q+=', 'd'],
])('%s names what psql would connect to', (address, host, port, user, password, database) => {
  expect(readConfig({ DATABASE_URL: address }).process.databaseUrl).toBe(address);
  const { tls, ...parts } = readDatabaseUrl(address);
  expect(parts).toEqual({ ...NONE, host, port, user, password, database });
  expect(Object.values(tls)).toEqual([null, null, null, null, null]);
});

const SECRETS = ['s3cr', 'et77'];

describe('Raw #, / or ? in the password', () => {
  test.each([
    'postgres://u:s3cr#et77@h/d',
    'postgres://u:s3cr/et77@h/d',
    'postgres://u:s3cr?et77@h/d',
    'postgres://u:123?x=et77@h/d',
    'postgres://u:s3cr@123/et77@h/d',
    'postgres://u:s3cr%et77@h/d',
    'postgres://u@h/d?password=s3cr%et77',
  ])('%s is refused, with how to write it', (address) => {
    const problem = problemOf(address);
    expect(problem).toMatch(/^DATABASE_URL (?:has|holds) /);
    expect(problem).toContain('%23');
    for (const secret of SECRETS) expect(problem).not.toContain(secret);
  });
});

describe('A port that is none', () => {
  test.each(['99999', '0', 'x', '-1'])('%s is refused', (port) => {
    expect(problemOf(`postgres://u:s3cr@h:${port}/d`)).toMatch(
      /^DATABASE_URL must have a port from 1 to 65535/,
    );
    expect(problemOf(`postgres:///d?host=h&port=${port}`)).toMatch(/^DATABASE_URL must have a port/);
  });
});

describe('Several hosts', () => {
  test.each(['postgres://u:s3cr@a,b/d', 'postgres://u:s3cr@a:1,b:2/d', 'postgres:///d?host=a,b'])(
    '%s is refused',
    (address) => {
      const problem = problemOf(address);
      expect(problem).toBe('DATABASE_URL names several hosts: give the one that takes writes');
    },
  );
});

describe('TLS parameters that mean nothing', () => {
  test.each([
    ['sslmode=prefer', 'leaves it to the server whether anything is encrypted: say disable, require'],
    ['sslmode=on', 'say disable, require, verify-ca or verify-full'],
    ['sslmode=verify-ca', 'needs sslrootcert'],
    ['sslmode=require&sslrootcert=system', 'only with sslmode=verify-full'],
    ['sslmod=verify-full', 'names sslmod, which is not supported'],
    ['sslcert=/a', 'must name sslcert and sslkey together'],
  ])('%s is refused', (parameters, problem) => {
    expect(problemOf(`postgres://u:s3cr@h/d?${parameters}`)).toContain(problem);
  });
});

describe('PGSSLMODE', () => {
  const address = 'postgres://u:p@h/d';

  test('counts where the address says nothing', () => {
    const modeOf = (environment: Record<string, string>) =>
      readDatabaseUrl(readConfig(environment).process.databaseUrl ?? '').tls.sslmode;
    expect(modeOf({ DATABASE_URL: address, PGSSLMODE: 'require' })).toBe('require');
    expect(modeOf({ DATABASE_URL: `${address}?application_name=x`, PGSSLMODE: 'verify-full' })).toBe(
      'verify-full',
    );
    expect(modeOf({ DATABASE_URL: `${address}?sslmode=disable`, PGSSLMODE: 'require' })).toBe('disable');
    expect(modeOf({ DATABASE_URL: 'postgres:///d?host=/run/postgresql', PGSSLMODE: 'Require' })).toBe(null);
  });

  test.each([
    ['verify_full', 'PGSSLMODE has an sslmode that is unknown'],
    ['allow', 'PGSSLMODE has an sslmode that is unknown, or leaves it to the server'],
  ])('%s is refused, as in the address', (mode, problem) => {
    expect(() => readConfig({ DATABASE_URL: address, PGSSLMODE: mode })).toThrow(problem);
  });
});

test('what is no address at all is not shown, since it may hold the password', () => {
  for (const text of ['mysql://u:s3cr@h/d', 's3cret77', 'postgres:u:s3cr@h', 'postgres://u:s3cr@h /d']) {
    expect(problemOf(text)).toBe('DATABASE_URL must look like postgres://user:password@host:5432/database');
  }
});

test('parameters of other programs are left alone', () => {
  const address = 'postgres://u:p@h/d?pgbouncer=true&channel_binding=require&connect_timeout=10';
  expect(readConfig({ DATABASE_URL: address }).process.databaseUrl).toBe(address);
});
