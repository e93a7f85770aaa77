// The command `alerts test`: whether messages arrive, in one sentence for each channel, without a secret in it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Certificates, makeAuthority, makeCertificates, readPem } from '../../support/certificates.ts';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { type CliRun, runCli, runCliAlone } from '../../support/run-cli.ts';
import { startMailServer, startReceiver } from './receivers.ts';

const SECRETS = /the-token|the-password|answer that nobody/;
/** This machine, and yet no loopback by name: what goes there counts as leaving. */
const ELSEWHERE = '0.0.0.0';

let certificates: Certificates;
const runs: CliRun[] = [];

beforeAll(() => {
  certificates = makeCertificates();
});

afterEach(() => {
  for (const { stdout, stderr } of runs.splice(0)) {
    expect(stdout + stderr).not.toMatch(SECRETS);
    expect(stdout + stderr, 'a stack trace').not.toMatch(/^\s+at .+:\d+/m);
  }
});

async function alertsTest(environment: Record<string, string>): Promise<CliRun> {
  const isOwnProcess = 'NODE_EXTRA_CA_CERTS' in environment;
  const run = await (isOwnProcess ? runCliAlone : runCli)(['alerts', 'test'], environment);
  runs.push(run);
  return run;
}

const mailTo = (port: number, host = '127.0.0.1') => ({
  ALERT_EMAIL: 'ops@example.com',
  SMTP_URL: `smtp://mirror%40example.com:the-password@${host}:${port}`,
});

describe('alerts test', () => {
  test('without a channel, says which variables to set', async () => {
    const { code, stderr } = await alertsTest({});
    expect(code).toBe(2);
    expect(stderr).toMatch(/no channel is set up: set ALERT_WEBHOOK_URL, or ALERT_EMAIL and SMTP_URL/);
  });

  test('sends one message through each, without a database', async () => {
    const receiver = await startReceiver();
    const { port, mails } = await startMailServer();
    const { code, stdout, stderr } = await alertsTest({ ALERT_WEBHOOK_URL: receiver.url, ...mailTo(port) });
    const { host } = new URL(receiver.url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `webhook: ${host} took the test message\nemail: 1 address through 127.0.0.1:${port} took the test message\n`,
    );
    expect(receiver.texts()).toEqual([
      'affiliate-mirror: this is a test: alerts arrive here\nMirror: schema mirror',
    ]);
    expect(mails).toHaveLength(1);
  });

  test.each([
    [
      404,
      /^webhook: 127\.0\.0\.1:\d+ answers 404: check ALERT_WEBHOOK_URL, which must take the JSON that Slack takes/m,
    ],
    [302, /answers 302: check ALERT_WEBHOOK_URL, .* and not redirect/],
    [429, /answers 429$/m],
  ])('says why a webhook did not take it: %s', async (status, words) => {
    const receiver = await startReceiver();
    receiver.answer = () => ({ status });
    const { port, mails } = await startMailServer();
    const { code, stderr, stdout } = await alertsTest({ ALERT_WEBHOOK_URL: receiver.url, ...mailTo(port) });
    expect(code).toBe(1);
    expect(stderr).toMatch(words);
    // The other channel is tried all the same.
    expect(stdout).toMatch(/^email: .* took the test message$/m);
    expect(mails).toHaveLength(1);
  });

  test('says that the user or the password is wrong, and not which', async () => {
    const { port } = await startMailServer();
    const smtp = { SMTP_URL: `smtp://mirror%40example.com:not-the-password@127.0.0.1:${port}` };
    const { code, stderr } = await alertsTest({ ...mailTo(port), ...smtp });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^email: 127\.0\.0\.1: it refuses the user or the password of SMTP_URL \(SMTP_535\)$/m,
    );
  });

  test('sends nothing to another machine in the clear', async () => {
    const { port, mails } = await startMailServer();
    const { code, stderr } = await alertsTest(mailTo(port, ELSEWHERE));
    expect(code).toBe(1);
    expect(stderr).toMatch(/does not offer STARTTLS/);
    expect(mails).toEqual([]);
  });

  test('encrypts by STARTTLS, and names the setting for a private authority', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'affiliate-mirror-alerts-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const authority = makeAuthority(directory, 'private');
    const { certificate, key } = authority.issue('elsewhere', `IP:${ELSEWHERE}`);
    const { port, mails } = await startMailServer({
      cert: readPem(certificate),
      key: readPem(key),
      disabledCommands: [],
    });
    const untrusted = await alertsTest(mailTo(port, ELSEWHERE));
    expect(untrusted.code).toBe(1);
    expect(untrusted.stderr).toMatch(/NODE_EXTRA_CA_CERTS/);
    expect(mails).toEqual([]);
    const trusted = { ...mailTo(port, ELSEWHERE), NODE_EXTRA_CA_CERTS: authority.path };
    expect(await alertsTest(trusted)).toMatchObject({ code: 0, stderr: '' });
    expect(mails).toMatchObject([{ isSecure: true, user: 'mirror@example.com' }]);
  });

  test('encrypts from the start with smtps://, and a webhook goes through the proxy', async () => {
    const { port, mails } = await startMailServer({ ...certificates.server, secure: true });
    const receiver = await startReceiver(certificates);
    const proxy = await startConnectProxy();
    const { pathname, port: hookPort } = new URL(receiver.url);
    const { code, stderr } = await alertsTest({
      ...mailTo(port),
      SMTP_URL: `smtps://mirror%40example.com:the-password@127.0.0.1:${port}`,
      ALERT_WEBHOOK_URL: `https://program.test:${hookPort}${pathname}`,
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: certificates.ca,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(mails).toMatchObject([{ isSecure: true, user: 'mirror@example.com' }]);
    expect(proxy.asked).toEqual([`program.test:${hookPort}`]);
    expect(proxy.seen()).not.toContain('the-token');
    expect(receiver.texts()).toHaveLength(1);
  });
});
