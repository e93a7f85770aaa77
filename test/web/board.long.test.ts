// The board of the queue in a browser: under the headers that the site sends, it shows the queue, and nothing is
// refused, and nothing is asked of another host.

import { chromium } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { migrateQueue } from '../../src/queue/queue-tables.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase } from '../support/database.ts';

const PASSWORD = 'a-password-of-this-test';

test('the board works in a browser, below a path and behind the door', async () => {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 5, referrals: 20 });
  onTestFinished(() => sandbox.close());
  const database = await createTestDatabase();
  await migrateQueue(database.pool, { redisUrl: null, databaseUrl: database.url, mirrorSchema: 'mirror' });
  const worker = await startCommandWorker({
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: database.url,
    STATUS_PASSWORD: PASSWORD,
    STATUS_BASE_PATH: '/affiliates',
  });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  onTestFinished(() => browser.close());
  const httpCredentials = { username: 'operator', password: PASSWORD };
  const page = await browser.newPage({ httpCredentials });
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => hosts.add(new URL(request.url()).host));

  await page.goto(`${worker.url}/queue`);
  await page.getByText('work', { exact: true }).first().waitFor();
  await page.goto(`${worker.url}/queue/queue/work?status=latest`);
  // The next tick of the schedule is a job that waits for its time.
  await page
    .getByText(/^repeat:sync-full/)
    .first()
    .waitFor();
  await page.goto(`${worker.url}/queue/job-schedulers`);
  await page.getByText('sync-full').first().waitFor();
  expect(await page.getByText('No workers').count()).toBe(0);
  await page.locator('header button[aria-haspopup=menu]').click();
  await page.getByText('Status page').click();
  await page.waitForURL(`${worker.url}/`);
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual([new URL(worker.url).host]);
});
