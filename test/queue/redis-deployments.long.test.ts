// Redis as it is deployed: what a queue works with, and what is said where it does not.

import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { openQueue } from '../../src/queue/backend.ts';
import type { JobSource } from '../../src/queue/job-source.ts';
import { migrateQueue } from '../../src/queue/queue-tables.ts';
import { startWorker } from '../../src/queue/start-worker.ts';
import { makeCertificates } from '../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { ROOT } from '../support/read-docs.ts';
import { findFreePort, startCluster, startRedis, startSentinel, type TestRedis } from '../support/redis.ts';
import { type CliRun, runCli, runCliAlone } from '../support/run-cli.ts';
import { FAST } from './queueing.ts';

const PASSWORD = 'never-to/be@seen';
const TYPED = encodeURIComponent(PASSWORD);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});

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
  const worker = await startWorker(
    { db: makeDatabase(pool), log, probe: async () => {} },
    { queue: settings(redisUrl), sources: [duty], timings: FAST },
  );
  return {
    async work() {
      wanted += 1;
      worker.lookNow();
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
    [
      'of a user who does not exist',
      `nobody:${TYPED}@`,
      'WRONGPASS invalid username-password pair or user is disabled.',
    ],
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
  let redis: TestRedis;
  let port: number;
  beforeAll(async () => {
    port = await findFreePort();
    redis = await startRedis(
      ['--tls-port', String(port), '--tls-auth-clients', 'yes'].concat(
        ['--tls-ca-cert-file', certificates.ca],
        ['--tls-cert-file', certificates.cert, '--tls-key-file', certificates.key],
      ),
    );
  });

  test('with a private authority and a certificate of ours works, both named in the address', () =>
    worksThere(`rediss://127.0.0.1:${port}/0?${files}&cert=${certificates.cert}&key=${certificates.key}`));

  test('with a private authority works with NODE_EXTRA_CA_CERTS too', async () => {
    await admin(redis, 'CONFIG', 'SET', 'tls-auth-clients', 'no');
    const { stdout } = await runCliAlone(['doctor'], {
      DATABASE_URL: database.url,
      REDIS_URL: `rediss://127.0.0.1:${port}/0`,
      NODE_EXTRA_CA_CERTS: certificates.ca,
    });
    expect(stdout).toContain(`✓ queue: Redis at 127.0.0.1:${port} keeps it`);
  });

  test('by an authority that is not trusted is refused, and says how to name it', async () => {
    expect(await refusalOf(`rediss://127.0.0.1:${port}/0`)).toMatch(
      /: nobody trusted here vouches for its certificate \(\w+\): .* REDIS_URL \(\?ca=FILE\) or NODE_EXTRA_CA_CERTS$/,
    );
  });

  test('is asked for where a server wants it, and doubted where it does not', async () => {
    expect(await refusalOf(`redis://127.0.0.1:${port}/0`)).toMatch(/rediss:\/\//);
    expect(await refusalOf(`rediss://127.0.0.1:${redis.port}/0?${files}`)).toMatch(
      /of REDIS_URL, which is with TLS \(without: redis:\/\/\)\)$/,
    );
  });

  test('with a file that is not there says which', async () => {
    expect(await refusalOf(`rediss://127.0.0.1:${port}/0?ca=/no/such/file`)).toMatch(
      /^REDIS_URL names \/no\/such\/file as ca, which cannot be read \(ENOENT/,
    );
  });
});

describe('Sentinel', () => {
  test('says where the primary is, also after another one took its place', async () => {
    const primary = await startRedis();
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(primary.port)]);
    const sentinel = await startSentinel(primary);
    const knowsReplica = async () => {
      const client = new Redis(sentinel);
      const replicas = await client.call('SENTINEL', 'REPLICAS', 'queue');
      client.disconnect();
      return JSON.stringify(replicas);
    };
    await expect.poll(knowsReplica).toContain(String(replica.port));
    // The first of them is away, which is no reason not to ask the other.
    const worker = await startThere(`redis+sentinel://127.0.0.1:9,127.0.0.1:${sentinel}/queue/0`);
    await worker.work();
    await primary.stop();
    await worker.work();
    expect(await admin(replica, 'ROLE')).toMatchObject({ 0: 'master' });
    await worker.stop();
  });

  test('may want a password of its own beside that of Redis', async () => {
    const redis = await startRedis(['--requirepass', PASSWORD]);
    const sentinel = await startSentinel(redis, [
      `sentinel auth-pass queue ${PASSWORD}`,
      'requirepass another',
    ]);
    const url = `redis+sentinel://:${TYPED}@127.0.0.1:${sentinel}/queue/0`;
    await worksThere(`${url}?sentinel-password=another`);
    expect(await refusalOf(url)).toMatch(
      /: it wants a password \(check host, port, user, password, those of the Sentinels/,
    );
  });

  test('that does not answer, or does not know the name, is said to', async () => {
    expect(await refusalOf('redis+sentinel://127.0.0.1:9/queue/0')).toMatch(
      /^the queue cannot be kept in Redis at queue, asked for at the Sentinels 127\.0\.0\.1:9: .*ECONNREFUSED/,
    );
    const sentinel = await startSentinel(await startRedis());
    expect(await refusalOf(`redis+sentinel://127.0.0.1:${sentinel}/another/0`)).toContain(
      'knows no primary of that name',
    );
  });
});

describe('a Cluster', () => {
  test('keeps the queue, whichever of its nodes the address names', async () => {
    const nodes = await startCluster(3);
    for (const { url } of nodes) await worksThere(url);
    const [first, second] = nodes;
    await worksThere(`redis://127.0.0.1:9,127.0.0.1:${first?.port},127.0.0.1:${second?.port}`);
    const { stdout } = await doctor(first?.url ?? '');
    expect(stdout).toContain(`✓ queue: Redis at 127.0.0.1:${first?.port} keeps it`);
    expect(await refusalOf(`redis://127.0.0.1:${first?.port}/3`)).toContain(
      'check host, port, user, password and database of REDIS_URL',
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

  test('since it has no such database, is refused instead of used in another one', async () => {
    const { port } = await startRedis(['--databases', '2']);
    expect(await refusalOf(`redis://127.0.0.1:${port}/7`)).toMatch(
      /: ERR DB index is out of range \(check host, .* database of REDIS_URL/,
    );
  });

  test('since it is a replica, is refused before anything is written', async () => {
    const primary = await startRedis();
    const { port } = await startRedis(['--replicaof', '127.0.0.1', String(primary.port)]);
    expect(await refusalOf(`redis://127.0.0.1:${port}/0`)).toMatch(
      /: it is a replica, which only reads: give the/,
    );
  });

  test('since it is one of several that are no Cluster, is refused', async () => {
    const { port } = await startRedis();
    expect(await refusalOf(`redis://127.0.0.1:${port},127.0.0.1:9/0`)).toMatch(/this one is no Cluster/);
  });

  test('since it is something else, is said to be no Redis', async () => {
    const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await refusalOf(`redis://127.0.0.1:${port}/0`)).toMatch(/: [^(]+ \(check host, port/);
    other.close();
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

test('a Redis whose memory is full is a finding of doctor, and keeps the worker from being ready until it has room', async () => {
  const redis = await startRedis();
  const backend = await openQueue({ log }, settings(redis.url), 'id');
  const admin = new Redis(redis.url);
  const failure = () =>
    backend.check().then(
      () => '',
      (error: Error) => error.message,
    );
  await admin.config('SET', 'maxmemory', '100kb');
  const full = /takes no jobs: its memory is full \(maxmemory\), and it takes no writes/;
  expect(await failure()).toMatch(full);
  const { stdout } = await doctor(redis.url, runCliAlone);
  expect(stdout).toMatch(/✗ queue: the queue cannot be kept in Redis at .*: its memory is full/);
  await admin.config('SET', 'maxmemory', '0');
  expect(await failure()).toBe('');
  admin.disconnect();
  await backend.close();
});

test('a queue whose Redis goes away says why it is not ready', async () => {
  const redis = await startRedis();
  const backend = await openQueue({ log }, settings(redis.url), 'id');
  await redis.stop();
  const failure = () =>
    backend.check().then(
      () => '',
      (error: Error) => error.message,
    );
  await expect
    .poll(failure)
    .toMatch(
      /^the queue in Redis at 127\.0\.0\.1:\d+ does not answer: connect ECONNREFUSED .*\(check host, port/,
    );
  await redis.start();
  await expect.poll(failure).toBe('');
  await backend.close();
});
