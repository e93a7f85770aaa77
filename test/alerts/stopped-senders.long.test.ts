// Processes that are killed between the claim of a message and its first byte: it is sent once all the same.

import { expect, test } from 'vitest';
import type { AlertSettings } from '../../src/config/alerts.ts';
import { makeCertificates } from '../support/certificates.ts';
import type { TestDatabase } from '../support/database.ts';
import { startGate, startMailServer, startReceiver } from './receivers.ts';
import {
  createWellMirror,
  FAST,
  readNotices,
  refuseSecret,
  startWatcherProcess,
  waitForLooks,
} from './watching.ts';

const TIMINGS = { ...FAST, claimMs: 4000, sendTimeoutMs: 60_000 };

interface Delivery {
  readonly settings: AlertSettings;
  readonly environment: Record<string, string>;
  /** Where connections can be held up. */
  readonly gate: Awaited<ReturnType<typeof startGate>>;
  readonly count: () => number;
}

async function byWebhook(): Promise<Delivery> {
  const certificates = makeCertificates();
  const receiver = await startReceiver(certificates);
  const gate = await startGate(Number(new URL(receiver.url).port));
  return {
    settings: { webhook: { url: `https://127.0.0.1:${gate.port}/hook`, proxy: null }, email: null },
    environment: { NODE_EXTRA_CA_CERTS: certificates.ca },
    gate,
    count: () => receiver.received.length,
  };
}

async function byEmail(): Promise<Delivery> {
  const { port, mails } = await startMailServer();
  const gate = await startGate(port);
  const smtpUrl = `smtp://127.0.0.1:${gate.port}`;
  return {
    settings: { webhook: null, email: { to: ['ops@example.com'], from: 'mirror@example.com', smtpUrl } },
    environment: {},
    gate,
    count: () => mails.length,
  };
}

async function isClaimed({ pool }: TestDatabase): Promise<boolean> {
  const { rows } = await pool.query('select from alert_notices where claimed_until > clock_timestamp()');
  return rows.length > 0;
}

const DELIVERIES = [
  ['a webhook', byWebhook],
  ['e-mail', byEmail],
] as const;

test.each(DELIVERIES)('killed before %s has left: the next process sends it, once', async (_, prepare) => {
  const database = await createWellMirror();
  const { settings, environment, gate, count } = await prepare();
  const options = { url: database.url, settings, timings: TIMINGS };
  await refuseSecret(database);
  gate.close();
  const killed = startWatcherProcess(options, environment);
  await expect.poll(gate.connections).toBe(1);
  expect(await isClaimed(database)).toBe(true);
  await killed.end('SIGKILL');
  gate.open();
  startWatcherProcess(options, environment);
  await expect.poll(() => readNotices(database)).toMatchObject([{ state: 'sent' }]);
  await waitForLooks(database);
  expect(count()).toBe(1);
});
