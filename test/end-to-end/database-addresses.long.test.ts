// DATABASE_URL as an operator writes it: sockets, what each sslmode does, and which parameter a refusal tells to add.

import { chmod } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Authority, makeAuthority, readPem } from '../support/certificates.ts';
import { makeDirectory } from '../support/directory.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { runCli, runCliAlone } from '../support/run-cli.ts';

const PASSWORD = 'this-must-never-be-seen';

let directory: string;
let server: OwnPostgres;
let authority: Authority;
let other: Authority;
let client: { certificate: string; key: string };

beforeAll(async () => {
  directory = await makeDirectory();
  await chmod(directory, 0o777);
  authority = makeAuthority(directory, 'ca');
  other = makeAuthority(directory, 'other-ca');
  const own = authority.issue('localhost', 'DNS:localhost');
  client = authority.issue('encrypted');
  server = await startOwnPostgres();
  await server.write('server.crt', readPem(own.certificate));
  await server.write('server.key', readPem(own.key));
  await server.write('root.crt', readPem(authority.path));
  for (const role of ['anyone', 'encrypted', 'certified']) {
    await server.query(`create role ${role} login password '${PASSWORD}'`);
    await server.query(`grant usage on schema mirror to ${role}`);
    await server.query(`grant select on all tables in schema mirror to ${role}`);
    await server.query(`grant usage on schema mirror_reports to ${role}`);
    await server.query(`grant select on all tables in schema mirror_reports to ${role}`);
  }
  await server.write(
    'pg_hba.conf',
    [
      'local all all scram-sha-256',
      'hostnossl all encrypted all reject',
      'hostssl all encrypted all scram-sha-256',
      'hostssl all certified all scram-sha-256 clientcert=verify-ca',
      'host all certified all reject',
      'host all all all scram-sha-256',
    ].join('\n'),
  );
  await server.query(`alter system set unix_socket_directories = '${directory}'`);
  await server.query(`alter system set ssl = on`);
  await server.query(`alter system set ssl_ca_file = 'root.crt'`);
  await server.stop();
  await server.start();
});

function address(role: string, parameters: string, host = 'localhost'): string {
  const url = new URL(server.url);
  url.hostname = host;
  url.username = role;
  url.password = PASSWORD;
  url.search = parameters;
  return url.href;
}

async function status(role: string, parameters: string, host?: string) {
  const run = await runCli(['status'], { DATABASE_URL: address(role, parameters, host) });
  expect(run.stdout + run.stderr).not.toContain(PASSWORD);
  return run;
}

const root = (ca: Authority) => `sslrootcert=${ca.path}`;

describe('A Unix socket', () => {
  test.each(['', '&sslmode=verify-full'])('is connected to, whatever is asked of TLS: "%s"', async (more) => {
    const parameters = `host=${directory}&port=${new URL(server.url).port}${more}`;
    const run = await runCli(['status'], {
      DATABASE_URL: `postgresql://anyone:${PASSWORD}@/affiliate_mirror?${parameters}`,
    });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout).toContain(`database affiliate_mirror at ${directory}:`);
  });

  test('that is not there is named', async () => {
    const url = `postgres://anyone:${PASSWORD}@/affiliate_mirror?host=/no/socket`;
    const { code, stderr } = await runCli(['status'], { DATABASE_URL: url });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^affiliate-mirror: cannot connect to database affiliate_mirror at \/no\/socket:5432: check .*\n$/,
    );
  });
});

test('An address without a user, where no variable names one, is of the user of the process', async () => {
  await server.query(`create role "${userInfo().username}" login password '${PASSWORD}' in role anyone`);
  expect(await status('', '')).toMatchObject({ code: 0, stderr: '' });
});

describe('sslmode as psql has it', () => {
  test.each([
    ['No sslmode: not encrypted', () => '', 'localhost'],
    ['sslmode=require: encrypted, and nobody checks to whom', () => 'sslmode=require', '127.0.0.1'],
    ['sslmode=require with a CA', () => `sslmode=require&${root(authority)}`, '127.0.0.1'],
    ['sslmode=verify-ca', () => `sslmode=verify-ca&${root(authority)}`, '127.0.0.1'],
    ['sslmode=verify-full', () => `sslmode=verify-full&${root(authority)}`, 'localhost'],
    ['A CA alone: verify-full', () => root(authority), 'localhost'],
    ['sslnegotiation=direct', () => `${root(authority)}&sslnegotiation=direct`, 'localhost'],
  ])('%s', async (_name, parameters, host) => {
    expect(await status('anyone', parameters(), host)).toMatchObject({ code: 0, stderr: '' });
  });
});

const ADD_ROOT = 'name the certificate file of a private authority in sslrootcert of DATABASE_URL';

describe('a refusal', () => {
  test.each([
    ['A private CA that is not named', () => 'sslmode=verify-full', 'localhost', ADD_ROOT],
    ['A wrong CA', () => `sslmode=verify-ca&${root(other)}`, 'localhost', ADD_ROOT],
    [
      'A certificate of another host',
      () => `sslmode=verify-full&${root(authority)}`,
      '127.0.0.1',
      "127.0.0.1 is not in the cert's list",
    ],
  ])('%s: exit code 1, with the reason', async (_name, parameters, host, hint) => {
    const { code, stderr } = await status('anyone', parameters(), host);
    expect(stderr).toMatch(/^affiliate-mirror: cannot connect to database affiliate_mirror at .*\n$/);
    expect(stderr).toContain(hint);
    expect(code).toBe(1);
  });

  test('A file of a certificate that is missing: exit code 2', async () => {
    const { code, stderr } = await status('anyone', 'sslrootcert=/no/such/ca.pem');
    expect(stderr).toMatch(
      /^affiliate-mirror: DATABASE_URL names sslrootcert: ENOENT.*\/no\/such\/ca\.pem.*\n$/,
    );
    expect(code).toBe(2);
  });

  test('A server that takes only encrypted connections', async () => {
    const { code, stderr } = await status('encrypted', '');
    expect(stderr).toContain('no encryption');
    expect(code).toBe(1);
    expect(await status('encrypted', 'sslmode=require')).toMatchObject({ code: 0 });
  });

  test('A server that asks for a certificate of the client', async () => {
    const { code, stderr } = await status('certified', 'sslmode=require');
    expect(stderr).toContain('connection requires a valid client certificate');
    expect(code).toBe(1);
    const own = `sslmode=require&sslcert=${client.certificate}&sslkey=${client.key}`;
    expect(await status('certified', own)).toMatchObject({ code: 0, stderr: '' });
  });

  test('A server that does not encrypt', async () => {
    const plain = await startOwnPostgres();
    const url = new URL(plain.url);
    url.search = 'sslmode=require';
    const { code, stderr } = await runCli(['status'], { DATABASE_URL: url.href });
    expect(stderr).toContain('The server does not support SSL connections');
    expect(code).toBe(1);
  });
});

test('sslrootcert=system: the CAs of the machine', async () => {
  const environment = {
    DATABASE_URL: address('anyone', 'sslrootcert=system'),
    SSL_CERT_FILE: authority.path,
  };
  expect(await runCliAlone(['status'], environment)).toMatchObject({ code: 0, stderr: '' });
});
