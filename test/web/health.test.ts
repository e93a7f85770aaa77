// The two questions of an orchestrator: is the worker alive, and is it ready.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { makeLogger } from '../../src/log.ts';
import type { Checks } from '../../src/web/readiness.ts';
import { startStatusPage } from '../../src/web/server.ts';
import type { StatusPage } from '../../src/web/status-page.ts';

const log = makeLogger('silent');
const AT = { host: '127.0.0.1', port: 0 };
let health: StatusPage | undefined;

const startHealth = (deps: { checks: Checks; log?: typeof log }, at: { host: string; port: number }) =>
  startStatusPage(
    {
      log,
      ...deps,
      pageDeps: () => null,
      loadPages: async () => [],
      readMetrics: null,
      registerBoard: null,
    },
    {
      ...at,
      basePath: '',
      password: null,
      piiPassword: null,
      metrics: 'guarded',
      mirrorSchema: 'mirror',
    },
  );

afterEach(async () => {
  vi.useRealTimers();
  await health?.close();
});

async function ask(checks: Checks, path: string): Promise<{ status: number; body: unknown }> {
  health = await startHealth({ checks }, AT);
  const answer = await fetch(`${health.url}${path}`);
  return { status: answer.status, body: await answer.json() };
}

test('a process that answers is alive, whatever else fails', async () => {
  const checks = { database: () => Promise.reject(new Error('away')) };
  expect(await ask(checks, '/healthz')).toEqual({
    status: 200,
    body: { status: 'alive', process: process.pid },
  });
});

test('it is ready where every check passes', async () => {
  const checks = { database: async () => {}, queue: async () => {} };
  const body = { status: 'ready', checks: { database: 'ok', queue: 'ok' } };
  expect(await ask(checks, '/readyz')).toEqual({ status: 200, body });
});

test('it is not ready where one fails, and says which, without a word of why', async () => {
  const checks = { database: async () => {}, queue: () => Promise.reject(new Error('redis://:secret@host')) };
  const body = { status: 'not ready', checks: { database: 'ok', queue: 'failed' } };
  expect(await ask(checks, '/readyz')).toEqual({ status: 503, body });
});

test('however many ask at once, the checks are made once, and again after a second', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const ASKERS = 50;
  const { promise: allAsked, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const count = () => {
    asked += 1;
    if (asked === ASKERS) resolve();
  };
  let rounds = 0;
  const database = async () => {
    rounds += 1;
    await allAsked;
  };
  health = await startHealth({ checks: { database } }, AT);
  const { url } = health;
  subscribe('http.server.request.start', count);
  const answers = await Promise.all(Array.from({ length: ASKERS }, () => fetch(`${url}/readyz`)));
  unsubscribe('http.server.request.start', count);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(rounds).toBe(1);
  vi.advanceTimersByTime(999);
  await fetch(`${url}/readyz`);
  expect(rounds).toBe(1);
  vi.advanceTimersByTime(1);
  await fetch(`${url}/readyz`);
  expect(rounds).toBe(2);
});

test('a check that fails is logged when it begins to, once a minute, and when it fails otherwise', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const lines: { check: string; reason: string }[] = [];
  let reason: string | null = 'refused';
  const database = async () => {
    if (reason !== null) throw new Error(reason);
  };
  const logged = async () => {
    await fetch(`${health?.url}/readyz`);
    vi.advanceTimersByTime(1000);
    return lines.splice(0).map((line) => `${line.check}: ${line.reason}`);
  };
  const writer = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  health = await startHealth({ checks: { database }, log: writer }, AT);
  lines.splice(0);
  expect(await logged()).toEqual(['database: refused']);
  for (let second = 1; second < 60; second += 1) expect(await logged()).toEqual([]);
  expect(await logged()).toEqual(['database: refused']);
  reason = 'reset';
  expect(await logged()).toEqual(['database: reset']);
  reason = null;
  expect(await logged()).toEqual([]);
  reason = 'reset';
  expect(await logged()).toEqual(['database: reset']);
});

test('a connection that the system refuses to open does not end the worker', async () => {
  const servers: Server[] = [];
  const note = (message: unknown) => void servers.push((message as { server: Server }).server);
  subscribe('http.server.request.start', note);
  expect(await ask({}, '/healthz')).toMatchObject({ status: 200 });
  unsubscribe('http.server.request.start', note);
  servers[0]?.emit('error', new Error('accept ENFILE'));
  expect(servers).toHaveLength(1);
});

test('a port that is taken is reported, with how to fix it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await expect(startHealth({ checks: {} }, { host: '127.0.0.1', port })).rejects.toThrow(
    `port ${port} of 127.0.0.1 is taken: set STATUS_PORT`,
  );
  other.close();
});

test('a port below 1024 is reported to a plain user, with how to fix it', async () => {
  // As root, this process is a plain user for as long as it tries.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(54_321);
  try {
    await expect(startHealth({ checks: {} }, { host: '127.0.0.1', port: 80 })).rejects.toThrow(
      /^nothing can listen on port 80 of 127\.0\.0\.1 \(EACCES\): .* STATUS_PORT to 1024 or more$/,
    );
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test.each([
  ['192.0.2.1', 'EADDRNOTAVAIL'],
  ['no-such-host.invalid', 'ENOTFOUND|EAI_AGAIN'],
])('a host that is not ours, %s, is reported, with how to fix it', async (host, code) => {
  await expect(startHealth({ checks: {} }, { host, port: 0 })).rejects.toThrow(
    new RegExp(`^nothing can listen on port 0 of ${host} \\((${code})\\): set STATUS_HOST`),
  );
});
