// A Redis of a test's own, which it may stop, start and empty. It ends with the test file.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFile } from './after-file.ts';
import { makeServerDirectory } from './server-directory.ts';

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Starts it again on the same port, with what it kept. */
  start(): Promise<void>;
  /** Stops it; the last commands that it answered are on the disk. */
  stop(): Promise<void>;
  /** Throws away what it kept. Only while it is stopped. */
  wipe(): Promise<void>;
}

/**
 * Returns a running Redis that keeps everything (AOF) and evicts nothing, as the documentation asks for. Flags are
 * those of redis-server, and win over its own.
 */
export async function startRedis(flags: readonly string[] = []): Promise<TestRedis> {
  const directory = await makeDirectory();
  const port = await findFreePort();
  const own = ['--dir', directory, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  let server: ChildProcess | undefined;
  const start = async () => {
    server = await spawnServer(port, [...own, '--maxmemory-policy', 'noeviction', ...flags]);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}/0`,
    port,
    start,
    async stop() {
      if (server !== undefined) await end(server);
    },
    wipe: () => rm(join(directory, 'appendonlydir'), { recursive: true, force: true }),
  };
}

async function makeDirectory(): Promise<string> {
  const directory = await makeServerDirectory('affiliate-mirror-redis-');
  afterFile(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function spawnServer(port: number, flags: readonly string[]): Promise<ChildProcess> {
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--loglevel', 'warning', ...flags],
    { stdio: 'ignore' },
  );
  await once(server, 'spawn').catch((error: unknown) => {
    throw new Error('redis-server does not start: "node test/provision.ts" installs it, or says how to', {
      cause: error,
    });
  });
  afterFile(() => end(server));
  while (!/^(\+PONG|-NOAUTH)/.test(await tellRedis(port, 'PING').catch(() => ''))) {
    if (server.exitCode !== null) throw new Error(`redis-server ended: ${flags.join(' ')}`);
    await sleep(20);
  }
  return server;
}

/** Asks until it is done: a replica that writes its first AOF refuses to end ("Writing initial AOF, can't exit"). */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit').then(() => true);
  do server.kill('SIGTERM');
  while (!(await Promise.race([ended, sleep(500, false)])));
}

/** Returns the beginning of what the server answers to one line. Throws: Error where it answers nothing. */
export function tellRedis(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`));
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString());
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`the Redis on port ${port} says nothing to ${line}`)));
  });
}

/** Returns a port that nothing listens on. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
