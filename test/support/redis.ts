// A Redis of a test's own, which it may stop, start and empty. It ends with the test file.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';

export interface TestRedis {
  readonly url: string;
  /** Starts it again on the same port, with what it kept. */
  start(): Promise<void>;
  /** Stops it; the last commands that it answered are on the disk. */
  stop(): Promise<void>;
  /** Throws away what it kept. Only while it is stopped. */
  wipe(): Promise<void>;
}

const running = new Set<ChildProcess>();
const directories: string[] = [];

afterAll(async () => {
  await Promise.all([...running].map(end));
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true })));
});

/** Returns a running Redis that keeps everything (AOF) and evicts nothing, as the documentation asks for. */
export async function startRedis(): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-redis-'));
  directories.push(directory);
  const port = await findFreePort();
  let server: ChildProcess | undefined;
  const start = async () => {
    server = spawn(
      'redis-server',
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        directory,
        '--save',
        '',
        '--appendonly',
        'yes',
      ].concat(['--appendfsync', 'always', '--maxmemory-policy', 'noeviction', '--loglevel', 'warning']),
      { stdio: 'ignore' },
    );
    await once(server, 'spawn').catch((error: unknown) => {
      throw new Error('redis-server does not start: "node test/provision.ts" installs it, or says how to', {
        cause: error,
      });
    });
    running.add(server);
    while (!(await answers(port))) await sleep(20);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}/0`,
    start,
    async stop() {
      if (server !== undefined) await end(server);
    },
    wipe: () => rm(join(directory, 'appendonlydir'), { recursive: true, force: true }),
  };
}

async function end(server: ChildProcess): Promise<void> {
  running.delete(server);
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString().startsWith('+PONG'));
    });
    socket.once('error', () => resolve(false));
  });
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
