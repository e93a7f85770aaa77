// Every state of a mirror and its worker, as a browser shows it (Debian's chromium): on a phone, light, and dark
// without JavaScript, nothing is wrong with any page, nor, dark, with the overview, which has the state's colours.

import { beforeAll, describe, expect, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { runSandbox, SECRET } from '../../sandbox/running-sandbox.ts';
import { afterFile } from '../../support/after-file.ts';
import { openBrowser } from '../../support/browser.ts';
import { startCommandWorker } from '../../support/command-worker.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import { startRedis } from '../../support/redis.ts';
import { openStatusPage } from '../../support/status-page.ts';
import { type Look, lookAt } from './browser-look.ts';
import { PAYOUT, RUNS, storeFindings } from './store-findings.ts';
import { STATES, storeWell } from './store-states.ts';

/** What is shown instead of a page is the same for all. */
const FAILED = ['/', '/data'];
const EACH_LOOK: readonly Look[] = ['phone', 'without JavaScript'];

const all = (places: readonly string[], status: number) =>
  Object.fromEntries(places.map((place) => [place, status]));

describe.each(Object.entries(STATES))('%s', (_name, { store, says, places = [] }) => {
  let url: string;

  beforeAll(async () => {
    const database = await createTestDatabase();
    await store(database.pool);
    const page = await openStatusPage(database);
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
  const { url } = await openStatusPage({ pool });
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

test.each(['light', 'dark'] as const)('everything with personal data, in a wide window: %s', async (look) => {
  const piiPassword = 'people-see';
  const database = await createTestDatabase();
  await storeFindings(database.pool);
  const { url } = await openStatusPage(database, {}, { piiPassword });
  const runs = Object.values(RUNS).map((id) => `/runs/${id}`);
  const places = [
    ...runs,
    '/payments',
    '/payments/ledger?state=failed',
    '/payments/7',
    '/payments/batches/2',
    `/payments/payouts/${PAYOUT}`,
  ];
  const seen = { ...all([...places, '/data', '/charts?days=365'], 200), '/runs/999': 404 };
  await lookAt({ url, look, places: seen, piiPassword });
});

test.each([undefined, 'people-see'])(
  'the payment ledger fits a window of 1,100 pixels, with the password %s',
  async (piiPassword) => {
    const database = await createTestDatabase();
    await storeFindings(database.pool);
    await database.pool.query(`
      update commissions set amount = 123456789;
      insert into commission_updates (commission_id, action, paid_at, reason, batch_id, requested_by)
      select commission_id, 'pay', now(), 'the transfer of October', '20261001-120000-provisionen-oktober.xlsx-1f3a', 'finance'
      from commission_updates`);
    const { url } = await openStatusPage(database, {}, { piiPassword: piiPassword ?? null });
    const context = await (await openBrowser()).newContext({
      viewport: { width: 1100, height: 800 },
      ...(piiPassword !== undefined && { httpCredentials: { username: 'people', password: piiPassword } }),
    });
    const page = await context.newPage();
    if (piiPassword !== undefined) await page.goto(`${url}/personal-data?back=/runs`);
    for (const place of ['/payments/ledger', '/payments/batches/12']) {
      await page.goto(url + place);
      expect(await page.locator('td').count()).toBeGreaterThan(10);
      expect((await page.content()).includes('provisionen')).toBe(piiPassword !== undefined);
      expect(await page.evaluate(HIDDEN_WIDTHS), place).toEqual([]);
    }
    await context.close();
  },
);

/** How much of each table its window does not show. Units: pixels of CSS. */
const HIDDEN_WIDTHS = `[...document.querySelectorAll('.scroll')]
  .map((box) => box.scrollWidth - box.clientWidth).filter((wider) => wider > 0)`;

/** Returns a worker of a program of its own, which syncs once a year. */
async function startWorker(database: TestDatabase, environment: Readonly<Record<string, string>>) {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 2, referrals: 2 });
  return await startCommandWorker({
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    SYNC_FULL_CRON: '0 0 1 1 *',
    DATABASE_URL: database.url,
    ...environment,
  });
}
