// A worker as Prometheus and a browser meet it: its metrics count what it did, and its queue's board shows its jobs.

import { expect, onTestFinished, test } from 'vitest';
import { migrateQueue } from '../../src/queue/queue-tables.ts';
import { readValue } from '../metrics/scrape.ts';
import { basic, runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const PASSWORD = 'a-password-of-this-test';
/** What is asked is work for the worker that is waited for. */
const SELDOM = { interval: 200 };
const authorization = basic(`prometheus:${PASSWORD}`);

async function createMirror(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await migrateQueue(database.pool, { redisUrl: null, databaseUrl: database.url, mirrorSchema: 'mirror' });
  return database;
}

test('a worker counts what it does from its start, for whoever has the password', async () => {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 20, referrals: 450 });
  onTestFinished(() => sandbox.close());
  const database = await createMirror();
  const worker = await startCommandWorker({
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: '4/1',
    DATABASE_URL: database.url,
    STATUS_PASSWORD: PASSWORD,
    STATUS_BASE_PATH: '/affiliates',
  });
  const { origin } = new URL(worker.url);
  const scrape = () => fetch(`${origin}/metrics`, { headers: { authorization } });
  const runs = () =>
    database.pool
      .query(`select distinct resource from sync_runs where state = 'succeeded' order by 1`)
      .then(({ rows }) => rows.map(({ resource }) => resource));
  await expect.poll(runs).toEqual(['affiliates', 'referrals']);

  expect((await fetch(`${worker.url}/metrics`)).status).toBe(401);
  const answer = await scrape();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await answer.text();
  const of = (series: string) => readValue(text, `affiliate_mirror_${series}`);
  expect(of('rows_total{resource="referrals",outcome="inserted"}')).toBe(450);
  expect(of('rows_total{resource="affiliates",outcome="inserted"}')).toBe(20);
  expect(of('runs_total{resource="referrals",mode="full",outcome="succeeded"}')).toBeGreaterThan(0);
  expect(of('run_seconds_total{resource="referrals",mode="full"}')).toBeGreaterThan(0);
  const requests = of('requests_total{endpoint="list_referrals",status="200"}');
  expect(requests).toBeGreaterThanOrEqual(5);
  expect(of('permits_granted_total{priority="reads"}')).toBeGreaterThanOrEqual(requests ?? 0);
  expect(of('budget_limit_requests')).toBe(4);
  expect(of('freshness_age_seconds{resource="referrals"}')).toBeGreaterThanOrEqual(0);
  expect(of('queue_up')).toBe(1);
  expect(of('queue_jobs{state="delayed"}')).toBeGreaterThanOrEqual(0);
  expect(text).not.toMatch(/@|sandbox-secret|a-password/);

  // Somebody else has the whole window, so the next sync waits.
  await database.pool.query(
    `insert into request_permits (priority, granted_at, expires_at)
     select 'reads', now(), now() + interval '1 hour' from generate_series(1, 4)`,
  );
  const waited = async () =>
    readValue(
      await (await scrape()).text(),
      'affiliate_mirror_permit_wait_seconds_total{priority="reads",reason="window"}',
    );
  await expect.poll(waited, SELDOM).toBeGreaterThan(0);
  await database.pool.query('delete from request_permits');

  // The board of the queue is behind the same door.
  expect((await fetch(`${worker.url}/queue/api/queues`)).status).toBe(401);
  const ask = (path: string, method = 'GET') =>
    fetch(`${worker.url}/queue${path}`, { method, headers: { authorization } });
  const queues = (await (await ask('/api/queues')).json()) as { queues: { name: string }[] };
  expect(queues.queues.map(({ name }) => name)).toEqual(['work']);
  // What it says of jobs while they run, with the names and addresses of the program's people beside them.
  const answers: string[] = [];
  const listJobs = async () => {
    const body = await (await ask('/api/queues?activeQueue=work&status=latest&page=1&jobsPerPage=50')).text();
    answers.push(body);
    return body;
  };
  await expect.poll(listJobs, SELDOM).toMatch(/"progress":\{.*"name":"sync"/);
  answers.push(await (await ask('/api/job-schedulers')).text());
  for (const body of answers) expect(body).not.toMatch(/@|sandbox-secret|a-password|postgres:/);
  const page = await ask('/');
  expect(await page.text()).toContain('<base href="/affiliates/queue/"');
  expect(page.headers.get('content-security-policy')).toMatch(
    /style-src 'self' 'unsafe-inline'.*font-src 'self'/,
  );
  expect((await ask('/api/queues/work/pause', 'PUT')).status).toBe(405);
});

test('a worker answers everybody where METRICS=open, and only at /metrics', async () => {
  const database = await createMirror();
  const worker = await startCommandWorker({
    AFFILIATE_API_URL: 'http://127.0.0.1:9',
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: database.url,
    STATUS_PASSWORD: PASSWORD,
    SYNC_FULL_CRON: '',
    METRICS: 'open',
  });
  const statuses = ['/metrics', '/queue', '/'].map(
    async (path) => (await fetch(`${worker.url}${path}`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 401, 401]);
});
