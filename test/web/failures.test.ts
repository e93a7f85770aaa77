// A page that cannot be shown says so in plain words, in its frame, without a host, a value or a stack.

import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makePool } from '../../src/db/pool.ts';
import { Busy } from '../../src/errors.ts';
import { makeLogger } from '../../src/log.ts';
import { html } from '../../src/web/html.ts';
import type { Page } from '../../src/web/page.ts';
import { column, table } from '../../src/web/table.ts';
import { afterFile } from '../support/after-file.ts';
import { createTestDatabase } from '../support/database.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { expectGuardedHeaders, openStatusPage } from '../support/status-page.ts';

function pageThat(read: Page['read']): Page {
  return { path: '/it', label: 'It', read };
}

test('a database that goes away is said to be away, and its page is there again when it is', async () => {
  const server = await startOwnPostgres();
  const pool = makePool(
    { log: makeLogger('silent') },
    { url: server.url, schema: 'mirror', max: 2, applicationName: 'test' },
  );
  afterFile(() => pool.end());
  const page = await openStatusPage({ url: server.url, pool, drop: () => pool.end() });
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

test('a worker that still starts says so', async () => {
  const page = await openStatusPage(null);
  const answer = await page.ask();
  expect(answer.status).toBe(503);
  expect(answer.body).toContain('<h1>Starting</h1>');
  expectGuardedHeaders(answer);
});

test('a schema without its tables names the command that makes them', async () => {
  const database = await createTestDatabase();
  await database.pool.query('drop schema mirror cascade');
  const answer = await (await openStatusPage(database)).ask();
  expect(answer.status).toBe(503);
  expect(answer.body).toContain('affiliate-mirror migrate');
});

test('a page that fails says nothing of why, and the log does', async () => {
  const database = await createTestDatabase();
  const logged: unknown[] = [];
  const log = makeLogger('silent');
  log.warn = (...parts: unknown[]) => void logged.push(parts);
  const loadPages = async () => [
    pageThat(async () => {
      throw new Error('a secret detail');
    }),
  ];
  const answer = await (await openStatusPage(database, { log, loadPages })).ask({ path: '/it' });
  expect(answer.status).toBe(500);
  expect(answer.body).toContain('This page failed');
  expect(answer.body).not.toContain('a secret detail');
  expect(JSON.stringify(logged)).toContain('a secret detail');
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
  const page = await openStatusPage(database, { loadPages: async () => [never] });
  const asked = page.ask({ path: '/it' });
  await reading.promise;
  await vi.advanceTimersByTimeAsync(20_000);
  const answer = await asked;
  expect(answer.status).toBe(503);
  expect(answer.body).toContain('data-again');
});

test('a value that Postgres refuses reaches neither the page nor the log', async () => {
  const database = await createTestDatabase();
  const logged: unknown[] = [];
  const log = makeLogger('silent');
  log.warn = (...parts: unknown[]) => void logged.push(parts);
  const loadPages = async () => [
    pageThat(async () => {
      await database.pool.query('select $1::bigint', ['ada@example.com']);
      return { title: 'It', body: html`` };
    }),
  ];
  const answer = await (await openStatusPage(database, { log, loadPages })).ask({ path: '/it' });
  expect(answer.status).toBe(500);
  expect(`${answer.body}${JSON.stringify(logged)}`).not.toContain('ada@example.com');
  expect(JSON.stringify(logged)).toContain('22P02');
});

test('metrics that cannot be read are 503, and the page is there all the same', async () => {
  const readMetrics = () => Promise.reject(new Error('host db.internal'));
  const page = await openStatusPage(await createTestDatabase(), { readMetrics });
  const answer = await page.ask({ path: '/metrics' });
  expect(answer.status).toBe(503);
  expect(answer.body).not.toContain('db.internal');
  expect((await page.ask()).status).toBe(200);
});

test("a script in a customer's name is shown as text, and only to whoever may see people", async () => {
  const database = await createTestDatabase();
  const name = '<script>alert(1)</script>"\'';
  await database.pool.query(
    `insert into referrals (id, customer_name, _first_seen_at, _changed_at, _observed_at)
     values ('r1', $1, now(), now(), now())`,
    [name],
  );
  const loadPages = async () => [
    pageThat(async ({ db }, { mayReadPeople }) => {
      const query = sql<{ customer_name: string }>`select customer_name from referrals`;
      const [row] = (await query.execute(db)).rows;
      const shown = mayReadPeople ? (row?.customer_name ?? null) : 'hidden';
      return {
        title: shown ?? '',
        body: table('It', [shown], [column('Name', (name) => name)]),
      };
    }),
  ];
  const page = await openStatusPage(database, { loadPages }, { piiPassword: 'opens-with-people' });
  const shown = await page.ask({ path: '/it', password: 'opens-with-people' });
  expect(shown.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;');
  expect(shown.body).not.toContain('<script>alert');
  expect((await page.ask({ path: '/it' })).body).not.toContain('alert(1)');
});

test('the board of a worker that still starts is 503, and there once it has started', async () => {
  let hasStarted = false;
  const page = await openStatusPage(await createTestDatabase(), {
    async registerBoard(scope) {
      if (!hasStarted) throw new Busy('the worker is still starting');
      scope.get('/', async () => 'board');
    },
  });
  const answer = await page.ask({ path: '/queue' });
  expect(answer.status).toBe(503);
  expect(answer.body).toContain('The worker is not up yet');
  hasStarted = true;
  expect((await page.ask({ path: '/queue' })).body).toBe('board');
});

test('the board is made at the first request for it, behind the door, with a policy of its own', async () => {
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
