// The two questions of an orchestrator: is the worker alive, and is it ready.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import type { Checks } from '../../src/web/health.ts';
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
      programs: () => [],
      fileProblems: () => [],
      loadViews: async () => [],
      readMetrics: null,
      registerBoard: null,
    },
    {
      ...at,
      basePath: '',
      password: null,
      piiPassword: null,
      metrics: 'guarded',
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

const fine = async () => {};
const away = () => Promise.reject(new Error('redis://:secret@host'));

test.each([
  ['/healthz', { database: away }, 200, { status: 'alive', process: process.pid }],
  [
    '/readyz',
    { database: fine, queue: fine },
    200,
    { status: 'ready', checks: { database: 'ok', queue: 'ok' } },
  ],
  [
    '/readyz',
    { database: fine, queue: away },
    503,
    { status: 'not ready', checks: { database: 'ok', queue: 'failed' } },
  ],
])('%s with the checks %j is %i, without a word of why', async (path, checks, status, body) => {
  expect(await ask(checks, path)).toEqual({ status, body });
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
