// Every state of a mirror and its worker, as a browser shows it (Debian's chromium): on a phone, light, and dark
// without JavaScript, nothing is wrong with any page, nor, dark, with the overview, which has the state's colours. A
// mirror with something of every kind is looked at by browser.long.test.ts, in wide windows as well.

import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makePool } from '../../../src/db/pool.ts';
import { makeLogger } from '../../../src/log.ts';
import type { DiskSpace } from '../../../src/reports/read-growth.ts';
import { runSandbox, SECRET } from '../../sandbox/running-sandbox.ts';
import { afterFile } from '../../support/after-file.ts';
import { startCommandWorker } from '../../support/command-worker.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import { startRedis } from '../../support/redis.ts';
import { openStatusPage } from '../../support/status-page.ts';
import { type Look, lookAt } from './browser-look.ts';
import { STATES, storeWell } from './store-states.ts';

/** What is shown instead of a page is the same for all. */
const FAILED = ['/', '/data'];
const EACH_LOOK: readonly Look[] = ['phone', 'without JavaScript'];

const all = (places: readonly string[], status: number) =>
  Object.fromEntries(places.map((place) => [place, status]));

describe.each(Object.entries(STATES))('%s', (_name, { store, says, places = [], space }) => {
  let url: string;

  beforeAll(async () => {
    const database = await createTestDatabase();
    await store(database.pool);
    const page = await openStatusPage(database, {}, {}, (space ?? null) as DiskSpace | null);
    url = page.url;
    const { body } = await page.ask();
    for (const words of says) expect(body).toContain(words);
  });

  test.each(EACH_LOOK)('%s', async (look) => {
    await lookAt({ url, look, places: all(['/', '/runs', ...places], 200) });
  });

  test('the overview, dark', async () => {
    await lookAt({ url, look: 'dark', places: { '/': 200 } });
  });
});

test('starting', async () => {
  const { url } = await openStatusPage(null);
  for (const look of EACH_LOOK) await lookAt({ url, look, places: all(FAILED, 503) });
});

test('tables that are not there', async () => {
  const database = await createTestDatabase();
  await database.pool.query('drop schema mirror cascade');
  const { url } = await openStatusPage(database);
  for (const look of EACH_LOOK) await lookAt({ url, look, places: all(FAILED, 503) });
});

test('a database that is away', async () => {
  const server = await startOwnPostgres();
  const settings = { url: server.url, schema: 'mirror', max: 2, applicationName: 'test' };
  const pool = makePool({ log: makeLogger('silent') }, settings);
  afterFile(() => pool.end());
  const { url } = await openStatusPage({ url: server.url, pool, drop: () => pool.end() });
  await lookAt({ url, look: 'light', places: { '/': 200 } });
  await server.stop();
  for (const look of EACH_LOOK) await lookAt({ url, look, places: all(FAILED, 503) });
});

test('a queue that is away: its own page says so, and the others are there', async () => {
  const redis = await startRedis();
  const database = await createTestDatabase();
  await storeWell(database.pool);
  const { url } = await startWorker(database, { REDIS_URL: redis.url });
  await redis.stop();
  for (const look of EACH_LOOK) await lookAt({ url, look, places: { '/': 200, '/queue': 503 } });
});

/** Returns a worker of a program of its own, which syncs once a year. */
async function startWorker(database: TestDatabase, environment: Readonly<Record<string, string>>) {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 2, referrals: 2 });
  onTestFinished(() => sandbox.close());
  return await startCommandWorker({
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    SYNC_FULL_CRON: '0 0 1 1 *',
    DATABASE_URL: database.url,
    ...environment,
  });
}
