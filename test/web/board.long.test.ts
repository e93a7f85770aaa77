// The board of the queue in a browser: under the headers that the site sends, it shows the queue, and nothing is
// refused, and nothing is asked of another host.

import { expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startWorkerWithPage } from './worker-with-page.ts';

const PASSWORD = 'a-password-of-this-test';

test('the board works in a browser, below a path and behind a password', async () => {
  const worker = await startWorkerWithPage({ STATUS_PASSWORD: PASSWORD });
  const browser = await openBrowser();
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
