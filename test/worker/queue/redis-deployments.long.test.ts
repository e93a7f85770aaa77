// Redis as it is deployed: what a queue works with, and what is said where it does not.

import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeDatabase } from '../../../src/db/database.ts';
import { openQueue } from '../../../src/worker/queue/backend.ts';
import type { JobSource } from '../../../src/worker/queue/job-source.ts';
import { migrateQueue } from '../../../src/worker/queue/queue-tables.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { createTestDatabase } from '../../support/database.ts';
import { ROOT } from '../../support/read-docs.ts';
import { findFreePort, startRedis, type TestRedis } from '../../support/redis.ts';
import { type CliRun, runCli, runCliAlone } from '../../support/run-cli.ts';
import { FAST } from './queueing.ts';
import { serveOne } from './serve-one.ts';

const PASSWORD = 'never-to/be@seen';
const TYPED = encodeURIComponent(PASSWORD);

const database = await createTestDatabase();

const lines: string[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });

afterEach(() => {
  const said = lines.splice(0).join('');
  for (const spelling of [PASSWORD, TYPED]) expect(said).not.toContain(spelling);
});

function settings(redisUrl: string) {
  return { redisUrl, databaseUrl: database.url, mirrorSchema: 'mirror' };
}

/** Returns what the refusal of an address says. */
async function refusalOf(redisUrl: string): Promise<string> {
  const error = await openQueue({ log }, settings(redisUrl), 'id').then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason as Error,
  );
  expect(error.message).not.toContain(PASSWORD);
  expect(error.message).not.toContain(TYPED);
  return error.message;
}

interface Working {
  /** Has one job done. */
  work(): Promise<void>;
  stop(): Promise<void>;
}

/** Returns a worker with its queue there; everything that it does with Redis is part of a job or of its watchdog. */
async function startThere(redisUrl: string): Promise<Working> {
  const { pool } = database;
  await migrateQueue(pool, settings(redisUrl));
  let wanted = 0;
  let done = 0;
  const duty: JobSource = {
    name: 'once',
    needsProgram: false,
    schedules: [{ name: 'yearly', pattern: '0 0 1 1 *', timezone: 'UTC' }],
    async findDue() {
      if (done === wanted) return [];
      const run = async () => {
        done += 1;
        return { kind: 'done' } as const;
      };
      return [{ id: `once-${wanted}`, priority: 1, run }];
    },
  };
  const worker = await serveOne(
    { db: makeDatabase(pool), log, probe: async () => {} },
    { queue: settings(redisUrl), sources: [duty], timings: FAST },
  );
  return {
    async work() {
      wanted += 1;
      worker.wake();
      await expect.poll(() => done).toBe(wanted);
    },
    stop: () => worker.stop(),
  };
}

async function worksThere(redisUrl: string): Promise<void> {
  const worker = await startThere(redisUrl);
  await worker.work();
  await worker.stop();
  expect(lines.filter((line) => JSON.parse(line).level >= 40)).toEqual([]);
}

function doctor(redisUrl: string, run: typeof runCli = runCli): Promise<CliRun> {
  return run(['doctor'], { DATABASE_URL: database.url, REDIS_URL: redisUrl });
}

async function admin(redis: TestRedis, ...command: [string, ...string[]]): Promise<unknown> {
  const client = new Redis(redis.url);
  try {
    return await client.call(...command);
  } finally {
    client.disconnect();
  }
}

/** The user that docs/deployment.md tells to make. */
function documentedUser(): string[] {
  const page = readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8');
  const line = /^ACL SETUSER affiliate-mirror .*(?:\n {2}.*)*/m.exec(page)?.[0] ?? '';
  return line.split(/\s+/).slice(2);
}

describe('a password', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(['--requirepass', PASSWORD]);
  });
  const at = (login: string) => `redis://${login}127.0.0.1:${redis.port}/0`;

  test('is taken from the address, escaped as in any address', () => worksThere(at(`:${TYPED}@`)));

  test.each([
    ['missing', '', 'it wants a password'],
    ['wrong', `:${TYPED}x@`, 'WRONGPASS invalid username-password pair or user is disabled.'],
  ])('that is %s is said to be, and not shown', async (_how, login, words) => {
    expect(await refusalOf(at(login))).toBe(
      `the queue cannot be kept in Redis at 127.0.0.1:${redis.port}: ${words} ` +
        '(check host, port, user, password and database of REDIS_URL, which is without TLS (with it: rediss://))',
    );
  });

  test('is not shown by a worker or by doctor', async () => {
    const { stdout, stderr, code } = await doctor(at(`:${TYPED}x@`));
    expect(stdout).toMatch(/^✗ queue: .* WRONGPASS .* of REDIS_URL, which is without TLS/m);
    // No program is set here, which is a wrong configuration.
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain('never-to');
  });
});

describe('a user with the commands that the documentation lists', () => {
  const login = 'affiliate-mirror:a-password';

  test('can do everything that a worker does', async () => {
    const redis = await startRedis();
    await admin(redis, 'ACL', 'SETUSER', ...documentedUser());
    await worksThere(`redis://${login}@127.0.0.1:${redis.port}/0`);
    expect(await admin(redis, 'ACL', 'LOG')).toEqual([]);
  });

  test('has every command that a script of BullMQ calls', () => {
    const scripts = join(dirname(createRequire(import.meta.url).resolve('bullmq')), 'scripts', '*.js');
    const called = globSync(scripts).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\br?call\(['"](\w+)/g)].map(
        ([, name = '']) => `+${name.toLowerCase()}`,
      ),
    );
    expect(new Set(called).size).toBeGreaterThan(30);
    expect(documentedUser()).toEqual(expect.arrayContaining([...new Set(called)]));
  });

  test('where one is missing, the error names it', async () => {
    const redis = await startRedis();
    await admin(redis, 'ACL', 'SETUSER', ...documentedUser(), '-info');
    expect(await refusalOf(`redis://${login}@127.0.0.1:${redis.port}/0`)).toMatch(
      /NOPERM .*'info' command.*: docs\/deployment\.md lists the commands that its user needs$/,
    );
  });
});

describe('TLS', () => {
  const certificates = makeCertificates();
  const files = `ca=${certificates.ca}`;
  let port: number;
  beforeAll(async () => {
    port = await findFreePort();
    await startRedis(
      ['--tls-port', String(port), '--tls-auth-clients', 'yes'].concat(
        ['--tls-ca-cert-file', certificates.ca],
        ['--tls-cert-file', certificates.cert, '--tls-key-file', certificates.key],
      ),
    );
  });

  test('with a private authority and a certificate of ours works, both named in the address', () =>
    worksThere(`rediss://127.0.0.1:${port}/0?${files}&cert=${certificates.cert}&key=${certificates.key}`));

  test('by an authority that is not trusted is refused, and says how to name it', async () => {
    expect(await refusalOf(`rediss://127.0.0.1:${port}/0`)).toMatch(
      /: its certificate is from no trusted authority \(\w+\): .* REDIS_URL \(\?ca=FILE\) or NODE_EXTRA_CA_CERTS$/,
    );
  });
});

describe('a Redis that cannot keep a queue', () => {
  test('since nothing listens there, is said to be away', async () => {
    expect(await refusalOf('redis://127.0.0.1:9/0')).toContain(
      'the queue cannot be kept in Redis at 127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9 (check host, port',
    );
    expect(await refusalOf('redis://no-such-host.invalid/0')).toMatch(/no-such-host\.invalid \(check host/);
  });

  test.each([
    [
      'has no such database',
      ['--databases', '2'],
      7,
      /: ERR DB index is out of range \(check host, .* REDIS_URL/,
    ],
    ['is a replica', ['--replicaof', '127.0.0.1', '9'], 0, /: it is a replica, which only reads: give the/],
    ['is a node of a Cluster', ['--cluster-enabled', 'yes'], 0, /: it is a node of a Cluster: give/],
  ])('since it %s, is refused before anything is written', async (_what, options, db, words) => {
    const { port } = await startRedis(options);
    expect(await refusalOf(`redis://127.0.0.1:${port}/${db}`)).toMatch(words);
  });
});

test('a Redis that may throw keys away is a finding of doctor, and a warning in the log: nothing else is printed', async () => {
  const redis = await startRedis(['--maxmemory-policy', 'allkeys-lru']);
  const { stdout, stderr, code } = await doctor(redis.url, runCliAlone);
  const words = `Redis at 127.0.0.1:${redis.port} has the maxmemory-policy allkeys-lru`;
  expect(stdout).toContain(`✗ queue: ${words}`);
  expect(stdout).toContain('set it to noeviction');
  // No program is set here, which is a wrong configuration.
  expect(code).toBe(2);
  const logged = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(logged).toEqual([
    expect.objectContaining({ level: 40, msg: 'queue.unsafe', reason: expect.stringContaining(words) }),
  ]);
});
