// The status page behind nginx and Caddy, configured as the documentation says: below a path of another site.

import { describe, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { PROXIES, startReverseProxy } from '../support/reverse-proxy.ts';
import { BASE_PATH, startWorkerWithPage } from './worker-with-page.ts';

const PASSWORD = 'a-password-of-this-test';

describe.each(PROXIES)('behind %s', (proxy) => {
  test('every page opens by its links, follows along, and stays below its path', async () => {
    const worker = await startWorkerWithPage({ STATUS_PASSWORD: PASSWORD });
    const url = await startReverseProxy(proxy, worker.url);
    const page = await (await openBrowser()).newPage({
      httpCredentials: { username: 'operator', password: PASSWORD },
    });
    onTestFinished(() => page.close());
    const complaints: string[] = [];
    const addresses: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => addresses.push(request.url()));

    await page.goto(`${url}${BASE_PATH}/`);
    const asOf = () => page.getByText(/^Database time/).textContent();
    const before = await asOf();
    // Nobody asks for the page again.
    await expect.poll(asOf).not.toBe(before);
    for (const name of ['Runs', 'Payments', 'Data', 'Charts']) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1 }).first().waitFor();
    }
    expect(complaints).toEqual([]);
    for (const address of addresses) expect(address.startsWith(`${url}${BASE_PATH}/`), address).toBe(true);
  });

  test('without a password the page opens by the name that the proxy sends', async () => {
    const worker = await startWorkerWithPage({});
    const url = await startReverseProxy(proxy, worker.url);
    expect((await fetch(`${url}${BASE_PATH}/`)).status).toBe(200);
  });
});
