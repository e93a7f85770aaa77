// DATABASE_URL as people write it: what works as in psql, and one clear line where it does not.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { runCli } from '../support/run-cli.ts';

const PASSWORD = 's3cr/et#77';

let directory: string;
let server: OwnPostgres;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-socket-'));
  await chmod(directory, 0o777);
  server = await startOwnPostgres();
  await server.query(`create role reader login password '${PASSWORD}'`);
  await server.query('grant usage on schema mirror to reader');
  await server.query('grant select on all tables in schema mirror to reader');
  await server.query('grant usage on schema mirror_reports to reader');
  await server.query('grant select on all tables in schema mirror_reports to reader');
  await server.query(`alter system set unix_socket_directories = '${directory}'`);
  await server.stop();
  await server.start();
});

afterAll(() => rm(directory, { recursive: true, force: true }));

async function status(address: string, more: Record<string, string> = {}) {
  const run = await runCli(['status'], { DATABASE_URL: address, ...more });
  for (const part of ['s3cr', 'et#77', encodeURIComponent(PASSWORD)]) {
    expect(run.stdout + run.stderr).not.toContain(part);
  }
  return run;
}

const encoded = encodeURIComponent(PASSWORD);
const port = () => new URL(server.url).port;

describe('A Unix socket', () => {
  test.each([
    ['as a parameter', (host: string) => `postgresql://reader:${encoded}@/affiliate_mirror?host=${host}`],
    [
      'in place of the host',
      (host: string) => `postgres://reader:${encoded}@${encodeURIComponent(host)}/affiliate_mirror?x=`,
    ],
    [
      'with everything as a parameter',
      (host: string) => `postgresql:///affiliate_mirror?host=${host}&user=reader&password=${encoded}`,
    ],
    [
      'where TLS is asked for, which a socket has none of',
      (host: string) => `postgres://reader:${encoded}@/affiliate_mirror?host=${host}&sslmode=verify-full`,
    ],
  ])('%s is connected to', async (_name, address) => {
    const run = await status(`${address(directory)}&port=${port()}`);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toContain(`database affiliate_mirror at ${directory}:${port()}`);
  });

  test('that is not there is named', async () => {
    const { code, stderr } = await status(`postgres://reader:${encoded}@/affiliate_mirror?host=/no/socket`);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^affiliate-mirror: cannot connect to database affiliate_mirror at \/no\/socket:5432: check .*\n$/,
    );
  });
});

test('A password with every special character, percent-encoded', async () => {
  const address = new URL(server.url);
  expect(
    await status(`postgres://reader:${encoded}@127.0.0.1:${address.port}/affiliate_mirror`),
  ).toMatchObject({
    code: 0,
  });
});

test('An address without a user, where no variable names one, is of the user of the process', async () => {
  await server.query(`create role "${userInfo().username}" login password '${PASSWORD}' in role reader`);
  expect(await status(`postgres://:${encoded}@127.0.0.1:${port()}/affiliate_mirror`)).toMatchObject({
    code: 0,
    stderr: '',
  });
});

test('A server that asks for a password, where there is none', async () => {
  const { code, stderr } = await status(`postgres://reader@127.0.0.1:${port()}/affiliate_mirror`);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^affiliate-mirror: cannot connect to database .*: check .*DATABASE_URL.*: .*client password must be a string\n$/,
  );
});

test.each([
  ['Raw #, / or ? in the password', `postgres://reader:${PASSWORD}@127.0.0.1/books`, 'holds a raw #'],
  [
    'A port that is none',
    `postgres://reader:${encoded}@127.0.0.1:99999/books`,
    'must have a port from 1 to 65535',
  ],
  ['Several hosts', `postgres://reader:${encoded}@one:5432,two:5432/books`, 'names several hosts'],
])('%s: one line and exit code 2', async (_name, address, problem) => {
  const { code, stdout, stderr } = await status(address);
  expect(stderr).toMatch(/^affiliate-mirror: DATABASE_URL .*\n$/);
  expect(stderr).toContain(problem);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});
