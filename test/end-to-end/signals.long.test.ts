// What ends a worker that others started: npm, a shell, a terminal that is closed. And what does not.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { ROOT } from '../support/read-docs.ts';
import { runCli } from '../support/run-cli.ts';

let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const { url } = await createTestDatabase();
  environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '/',
    DATABASE_URL: url,
    AFFILIATE_API_URL: 'http://127.0.0.1:9',
    AFFILIATE_API_SECRET: 'secret',
    SYNC_FULL_CRON: '',
    SYNC_DELTA_CRON: '',
    STATUS_PORT: '0',
  };
  expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
});

/** Of what a failed test leaves running: process groups are negative. */
const pids: number[] = [];

afterEach(() => {
  for (const pid of pids.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ESRCH' });
    }
  }
});

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  /** Of the worker, where the command says it. */
  readonly pid: number;
  /** Resolves with what was logged, once nobody holds the log any more: the worker has ended too. */
  readonly ended: Promise<string>;
}

/** Returns the command, once the worker that it starts works. */
async function start(command: string, args: readonly string[]): Promise<Started> {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: environment,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  pids.push(-Number(child.pid));
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(() => lines.join('\n'));
  const said = (word: string) => lines.find((line) => line.includes(word));
  await expect.poll(() => said('worker.started'), { message: lines.join('\n') }).toBeDefined();
  const { url } = JSON.parse(said('status.listening') ?? '{}');
  const { worker: pid } = JSON.parse(said('"worker":') ?? '{}');
  if (pid !== undefined) pids.push(pid);
  return { child, url, pid, ended };
}

const NODE = [process.execPath, 'src/main.ts', 'work'].join(' ');

test('a worker ends cleanly when its terminal is closed', async () => {
  const { child, ended } = await start(process.execPath, ['src/main.ts', 'work']);
  child.kill('SIGHUP');
  expect(await ended).toContain('worker.stopping');
  expect(child.exitCode).toBe(0);
});

test('SIGUSR1 opens no debugger, through which others could read the secret', async () => {
  const { child, url, ended } = await start(process.execPath, ['src/main.ts', 'work']);
  child.kill('SIGUSR1');
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  child.kill('SIGTERM');
  const said = await ended;
  expect(said).toContain('worker.stopping');
  expect(said).not.toContain('Debugger');
});

test.each(['setsid', 'nohup'])(
  'a worker under %s goes on when the shell that started it is gone, until it is stopped',
  async (how) => {
    const { child, url, pid, ended } = await start('bash', [
      '-c',
      `${how} ${NODE} & echo '{"worker":'$!'}' >&2; read -r _`,
    ]);
    const shellEnded = once(child, 'exit');
    child.stdin?.end();
    await shellEnded;
    if (how === 'nohup') process.kill(pid, 'SIGHUP');
    await sleep(1000);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    process.kill(pid, 'SIGTERM');
    expect(await ended).toContain('worker.stopping');
  },
);

/** Returns how the command ended that was sent SIGTERM once it waits, and what it said. */
async function endedWhileWaiting(args: readonly string[], isWaiting: (pid: number) => Promise<boolean>) {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    cwd: ROOT,
    env: environment,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const pid = Number(child.pid);
  pids.push(pid);
  const ended = Promise.all([once(child, 'exit'), text(child.stderr)]);
  await expect.poll(() => isWaiting(pid)).toBe(true);
  child.kill('SIGTERM');
  const [[code], said] = await ended;
  return { code, said };
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: environment['DATABASE_URL'] });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('a command that waits for a table', () => {
  const NOBODY = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

  test.each(['status', `forget ${NOBODY}`, 'commissions payable'])(
    'ends at the first signal, and waits in Postgres no longer: %s',
    async (line) => {
      // Within a transaction, pg_stat_activity stays as it was first read.
      const [holder, watcher] = await Promise.all([connect(), connect()]);
      const { rows } = await holder.query<{ name: string }>(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = 'mirror' and tablename <> 'schema_migrations'`,
      );
      await holder.query(`begin; lock table ${rows.map(({ name }) => name).join()} in access exclusive mode`);
      const countWaiting = async () =>
        (
          await watcher.query(
            `select from pg_stat_activity where application_name like 'affiliate-mirror %' and wait_event_type = 'Lock'
           and datname = current_database()`,
          )
        ).rowCount ?? 0;
      const { code, said } = await endedWhileWaiting(line.split(' '), async () => (await countWaiting()) > 0);
      expect(said).toMatch(/^affiliate-mirror: stopped by SIGTERM(: not all of it .* again)?\n$/);
      expect(code).toBe(143);
      await expect.poll(countWaiting).toBe(0);
    },
  );
});
