// The start of the command `work`: what it waits for, what ends it, and what it does without.

import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { readDocument } from '../../tools/schemas/read-document.ts';
import { startReceiver } from '../observe/alerts/receivers.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { startPostgresGate } from '../support/postgres-gate.ts';
import { startRedis } from '../support/redis.ts';
import { runCli, runCliAlone, spawnCli } from '../support/run-cli.ts';

type Environment = Readonly<Record<string, string>>;

interface Worker {
  readonly lines: readonly string[];
  /** Resolves once it has logged the word. */
  says(word: string): Promise<void>;
  /** Stops it by SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>;
  /** Resolves to its exit code once it has ended, by itself or not. */
  readonly ended: Promise<number | null>;
}

const WRONG_CLOCK = new URL('../support/wrong-clock.ts', import.meta.url).href;

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function makeEnvironment(databaseUrl: string): Environment {
  return {
    DATABASE_URL: databaseUrl,
    // No program answers there: a worker starts all the same.
    AFFILIATE_API_URL: 'http://127.0.0.1:9',
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    SYNC_FULL_CRON: '',
    SYNC_DELTA_CRON: '',
    STATUS_PORT: '0',
  };
}

function withClockAhead(environment: Environment, ms: number): Environment {
  return { ...environment, CLOCK_AHEAD_MS: String(ms), NODE_OPTIONS: `--import=${WRONG_CLOCK}` };
}

async function makeMigrated(): Promise<Environment> {
  const environment = makeEnvironment((await createTestDatabase()).url);
  expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
  return environment;
}

function startWork(environment: Environment): Worker {
  const child = spawnCli(['work'], environment);
  closers.push(() => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  return {
    lines,
    ended,
    async says(word) {
      const said = () => child.exitCode !== null || lines.some((line) => line.includes(word));
      await expect.poll(said, { timeout: 30_000, interval: 20, message: lines.join('\n') }).toBe(true);
      expect(lines.join('\n')).toContain(word);
    },
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

describe.each(['postgres', 'redis'] as const)('a worker with its queue in %s', (kind) => {
  let postgres: OwnPostgres | undefined;
  let redisUrl: string | undefined;

  /** Returns the environment of a mirror on a server that may be stopped. */
  async function prepare(): Promise<{ server: OwnPostgres; environment: Environment }> {
    if (kind === 'redis') redisUrl ??= (await startRedis()).url;
    postgres ??= await startOwnPostgres();
    const environment = {
      ...makeEnvironment(postgres.url),
      ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    };
    expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
    return { server: postgres, environment };
  }

  // Of the first five messages, three are for the password, and two are questions: what it is, and whether it takes
  // writes. With their answers the database counts as reached. Which step of the start a number falls into may change; together they fall into most.
  test.each([6, 12, 18])(
    'whose Postgres goes away at message %i of its start waits for it, and says that it started afterwards',
    async (number) => {
      const { server, environment } = await prepare();
      const gate = await startPostgresGate(environment['DATABASE_URL'] ?? '', number);
      closers.push(() => gate.close());
      const worker = startWork({ ...environment, DATABASE_URL: gate.url });
      await gate.held;
      expect(worker.lines.join('\n')).not.toContain('worker.started');
      await server.stop();
      gate.open();
      await worker.says('start.waits_for_database');
      expect(worker.lines.join('\n')).not.toContain('worker.started');
      await server.start();
      await worker.says('worker.started');
      expect(await worker.stop()).toBe(0);
    },
  );
});

describe('a worker', () => {
  test.each([
    [
      'a newer version migrated the tables',
      1,
      'is newer than this version (it has 9999_newer.sql)',
      ({ pool }: TestDatabase) =>
        pool.query(`insert into mirror.schema_migrations (name, sha256) values ('9999_newer.sql', 'x')`),
    ],
    [
      'the mirror was switched to another mode',
      2,
      'this mirror keeps personal data as omit, and PII is plain here',
      ({ url }: TestDatabase) =>
        runCli(['personal-data', 'switch'], { ...makeEnvironment(url), PII: 'omit' }),
    ],
  ])('that was left running while %s ends with %i, and says so', async (_what, code, says, change) => {
    const database = await createTestDatabase();
    const environment = makeEnvironment(database.url);
    expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
    const worker = startWork(environment);
    await worker.says('worker.started');
    await change(database);
    expect(await worker.ended).toBe(code);
    expect(worker.lines.join('\n')).toContain(says);
  });

  test('that waits for its Postgres is alive, not ready, and stops on SIGTERM', async () => {
    const postgres = await startOwnPostgres();
    const environment = makeEnvironment(postgres.url);
    await runCli(['migrate'], environment);
    const gate = await startPostgresGate(postgres.url, 7);
    closers.push(() => gate.close());
    const worker = startWork({ ...environment, DATABASE_URL: gate.url });
    await gate.held;
    await postgres.stop();
    gate.open();
    await worker.says('start.waits_for_database');
    const { url } = JSON.parse(worker.lines.find((line) => line.includes('status.listening')) ?? '');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect(await ready.json()).toEqual({
      status: 'not ready',
      checks: { database: 'failed', rights: 'failed', migrations: 'failed', queue: 'failed' },
    });
    expect(await worker.stop()).toBe(143);
  });

  test('that still waits for the first answer of the API is not ready, and stops on SIGTERM', async () => {
    const sandbox = await runSandbox((await createTestDatabase()).pool);
    sandbox.setFaults({ shares: { stall: 1 }, exact: [] });
    const environment = { ...(await makeMigrated()), AFFILIATE_API_URL: sandbox.url };
    const worker = startWork(environment);
    await expect.poll(() => sandbox.requests.length).toBeGreaterThan(0);
    const { url } = JSON.parse(worker.lines.find((line) => line.includes('status.listening')) ?? '');
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ checks: { queue: 'failed' } });
    expect(await worker.stop()).toBe(143);
  });

  test.each([
    ['a day ahead of', 86_400_000],
    ['20 s behind', -20_000],
  ])("whose clock is %s the database's does not start, and says why", async (_what, ms) => {
    const environment = await makeMigrated();
    const { code, stderr } = await runCliAlone(['work'], withClockAhead(environment, ms));
    const words = ms < 0 ? 'behind' : 'ahead of';
    // How far at the least: an answer that took long makes it less.
    expect(stderr).toMatch(new RegExp(`the clock of this machine is \\d+ s ${words} the database's`));
    expect(stderr).not.toContain('worker.started');
    expect(code).toBe(1);
  });
});

describe("a machine whose clock is a day ahead of the database's", () => {
  test('is found by doctor', async () => {
    const environment = await makeMigrated();
    const { code, stdout } = await runCliAlone(['doctor'], withClockAhead(environment, 86_400_000));
    expect(stdout).toMatch(/^✗ clock: the clock of this machine is 86\d{3} s ahead of the database's/m);
    expect(code).toBe(1);
    expect((await runCli(['doctor'], environment)).stdout).toMatch(/^✓ clock: it agrees/m);
  });

  test('dates no payment by it', async () => {
    const environment = await makeMigrated();
    const id = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
    const paid = await runCliAlone(
      ['commissions', 'pay', id, '--json'],
      withClockAhead(environment, 86_400_000),
    );
    expect(paid).toMatchObject({ code: 0 });
    const { asked } = readDocument('commissions-requests', paid.stdout).requests[0];
    const agoMs = Date.now() - Date.parse(asked.replace('mark paid at ', ''));
    expect(agoMs).toBeGreaterThanOrEqual(0);
    expect(agoMs).toBeLessThan(3_600_000);
  });
});

test('a worker that was refused alerts once, and goes on once its secret file holds the right secret, ready all the while', async () => {
  const { pool } = await createTestDatabase();
  const sandbox = await runSandbox(pool, { affiliates: 1, referrals: 1 });
  closers.push(() => sandbox.close());
  const directory = await makeDirectory();
  closers.push(() => rm(directory, { recursive: true }));
  const file = join(directory, 'secret');
  await writeFile(file, 'former-secret');
  const { AFFILIATE_API_SECRET: _, ...rest } = await makeMigrated();
  const receiver = await startReceiver();
  const environment = {
    ...rest,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET_FILE: file,
    ALERT_WEBHOOK_URL: receiver.url,
  };
  const titles = () => receiver.texts().map((text) => text.split('\n')[0]?.replace('affiliate-mirror: ', ''));
  const refused = 'the API refuses the secret, and all workers are paused';
  const worker = startWork(environment);
  await worker.says('program.secret_refused');
  await worker.says('worker.started');
  const { url } = JSON.parse(worker.lines.find((line) => line.includes('status.listening')) ?? '{}');
  // A restart brings no other secret than the file does.
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await expect.poll(titles).toEqual([refused]);
  await writeFile(file, `${SECRET}\n`);
  expect(await runCli(['doctor'], environment)).toMatchObject({ code: 0 });
  await worker.says('program.secret_accepted');
  await expect.poll(titles).toEqual([refused, `Resolved: ${refused}`]);
  expect(await worker.stop()).toBe(0);
  expect(worker.lines.join('\n')).not.toContain(SECRET);
});
