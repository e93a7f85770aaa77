// A page that cannot be shown says so in plain words, in its frame, without a host, a value or a stack.

import { expect, onTestFinished, test, vi } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { html } from '../../src/web/html.ts';
import type { View } from '../../src/web/view.ts';
import { afterFile } from '../support/after-file.ts';
import { createTestDatabase } from '../support/database.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { expectGuardedHeaders, openStatusPage } from '../support/status-page.ts';

function pageThat(read: View['read']): View {
  return { path: '/it', label: 'It', read };
}

test('a database that goes away is said to be away, and its page is there again when it is', async () => {
  const server = await startOwnPostgres();
  const pool = makePool(
    { log: makeLogger('silent') },
    { url: server.url, schema: 'mirror', max: 2, applicationName: 'test' },
  );
  afterFile(() => pool.end());
  const page = await openStatusPage({ pool });
  expect((await page.ask()).status).toBe(200);
  await server.stop();
  const away = await page.ask();
  expect(away.status).toBe(503);
  expect(away.body).toContain('The database does not answer');
  expect(away.body).toContain('<nav');
  expect(away.body).not.toMatch(/127\.0\.0\.1|ECONN|terminat|node:/);
  expect(away.headers['retry-after']).toBe('5');
  expectGuardedHeaders(away);
  expect((await page.ask({ path: '/healthz' })).status).toBe(200);
  await server.start();
  expect((await page.ask()).status).toBe(200);
});

test.each([
  [
    'an error of its own',
    async () => Promise.reject(new Error('a secret detail')),
    'a secret detail',
    'ada@example.com',
  ],
  [
    'a value that Postgres refuses',
    async (pool: Pool) => pool.query('select $1::bigint', ['ada@example.com']),
    '22P02',
    'ada@example.com',
  ],
])('%s is said by the log, and by the page nothing of it', async (_, fail, isLogged, isNowhere) => {
  const database = await createTestDatabase();
  const logged: unknown[] = [];
  const log = makeLogger('silent');
  log.warn = (...parts: unknown[]) => void logged.push(parts);
  const loadViews = async () => [
    pageThat(async () => {
      await fail(database.pool);
      return { title: 'It', body: html`` };
    }),
  ];
  const answer = await (await openStatusPage(database, { log, loadViews })).ask({ path: '/it' });
  expect(answer.status).toBe(500);
  expect(answer.body).toContain('This view failed');
  expect(answer.body).not.toContain(isLogged);
  expect(`${answer.body}${JSON.stringify(logged)}`).not.toContain(isNowhere);
  expect(JSON.stringify(logged)).toContain(isLogged);
  expectGuardedHeaders(answer);
});

test('a page that is not read in time is said to be late, and is asked for again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const database = await createTestDatabase();
  const reading = Promise.withResolvers<void>();
  const never = pageThat(() => {
    reading.resolve();
    return new Promise(() => {});
  });
  const page = await openStatusPage(database, { loadViews: async () => [never] });
  const asked = page.ask({ path: '/it' });
  await reading.promise;
  await vi.advanceTimersByTimeAsync(20_000);
  const answer = await asked;
  expect(answer.status).toBe(503);
  expect(answer.body).toContain('data-again');
});

test('the board is made at the first request for it, behind the password, with a policy of its own', async () => {
  let made = 0;
  const page = await openStatusPage(
    await createTestDatabase(),
    {
      registerBoard(scope, { basePath }) {
        made += 1;
        scope.get('/', async () => `board at ${basePath}`);
        scope.get('/static/it.js', async () => 'script');
      },
    },
    { password: 'opens-the-page', basePath: '/affiliates' },
  );
  const password = 'opens-the-page';
  expect((await page.ask({ path: '/affiliates/', password })).body).toContain('href="/affiliates/queue"');
  expect((await page.ask({ path: '/affiliates/queue' })).status).toBe(401);
  expect((await page.ask({ path: '/affiliates/queue/it', method: 'PUT', password })).status).toBe(405);
  expect(made).toBe(0);
  const answer = await page.ask({ path: '/affiliates/queue', password });
  expect(answer.body).toBe('board at /affiliates/queue');
  expect(answer.headers['content-security-policy']).toContain("style-src 'self' 'unsafe-inline'");
  expect(answer.headers['cache-control']).toBe('no-store');
  expect((await page.ask({ path: '/affiliates/queue/static/it.js', password })).body).toBe('script');
  expect(made).toBe(1);
});
