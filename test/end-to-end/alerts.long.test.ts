// Alerts of real workers: a secret that the program refuses, and accepts again.

import { afterEach, expect, test } from 'vitest';
import { startReceiver } from '../alerts/receivers.ts';
import { readNotices } from '../alerts/watching.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

let sandbox: TestSandbox | undefined;

afterEach(() => sandbox?.close());

test('two workers whose secret is refused send one message, and one when it is accepted; a restart sends none', async () => {
  const database = await createTestDatabase();
  const receiver = await startReceiver();
  const start = async (secret: string, port = 0) => {
    sandbox = await runSandbox(database.pool, { affiliates: 5, referrals: 20, secret, port });
    return sandbox;
  };
  const refusing = await start('another-secret');
  const environment = {
    AFFILIATE_API_URL: refusing.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: database.url,
    ALERT_WEBHOOK_URL: receiver.url,
  };
  expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
  const worker = await startCommandWorker(environment);
  const other = await startCommandWorker(environment);
  const titles = () => receiver.texts().map((text) => text.split('\n')[0]?.replace('affiliate-mirror: ', ''));
  const refused = 'the program refuses the API secret, and all workers are paused';
  await expect.poll(titles).toEqual([refused]);

  const { port } = refusing;
  await refusing.close();
  await start(SECRET, port);
  // Its own request is accepted, and so a worker tries its own at once.
  const doctor = await runCli(['doctor'], environment);
  expect(doctor.stdout).toContain('✓ alerts: webhook to 127.0.0.1:');
  await expect.poll(titles).toEqual([refused, `well again: ${refused}`]);
  expect(await worker.stop()).toBe(0);
  expect(await other.stop()).toBe(0);
  const third = await startCommandWorker(environment);
  await third.stop();
  expect(titles()).toHaveLength(2);
  expect(await readNotices(database)).toMatchObject([{ state: 'sent' }, { kind: 'resolved', state: 'sent' }]);
  for (const { lines } of [worker, other, third]) {
    expect(lines.join('\n')).not.toMatch(/the-token|answer that nobody/);
    expect(lines.join('\n')).not.toContain(SECRET);
  }
});
