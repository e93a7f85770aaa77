// The page of a real worker: open to whoever has the password, live beside the work, and no reason to stop late.

import { expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { afterFile } from '../support/after-file.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';
import { basic } from '../support/status-page.ts';

test('a worker that others can reach shows its work to whoever has the password, and stops while they look', async () => {
  const [{ url }, { pool: programPool }] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const sandbox = await runSandbox(programPool);
  afterFile(() => sandbox.close());
  const environment = { DATABASE_URL: url };
  expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
  const worker = await startCommandWorker({
    ...environment,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    STATUS_HOST: '0.0.0.0',
    STATUS_PASSWORD: 'opens-the-page',
    STATUS_BASE_PATH: '/affiliates',
  });
  const said = worker.lines.find((line) => line.includes('status.listening')) ?? '';
  const { url: page } = JSON.parse(said);
  expect(page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/affiliates$/);
  const look = async (path: string, password?: string) => {
    const headers = password === undefined ? {} : { authorization: basic(password) };
    const answer = await fetch(`${page}${path}`, { headers });
    return { status: answer.status, text: await answer.text() };
  };
  expect(await look('/healthz')).toMatchObject({ status: 200 });
  expect(await worker.readyz()).toMatchObject({ database: 'ok' });
  expect(await look('/')).toMatchObject({ status: 401 });
  expect(await look('/', 'opens-the-door')).toMatchObject({ status: 401 });
  await expect
    .poll(async () => (await look('/', 'opens-the-page')).text, { interval: 200 })
    .toMatch(/All is well\.[\s\S]*affiliates[\s\S]*SYNC_FULL_CRON/);

  expect(await look('/live', 'opens-the-page')).toMatchObject({ status: 200 });
  expect(await worker.stop()).toBe(0);
  expect(worker.lines.join('\n')).not.toContain('opens-the-page');
});
