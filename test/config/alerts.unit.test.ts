// Where alerts go: what is accepted, what is refused and in which words, and that no secret is in them.

import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const WEBHOOK = 'https://hooks.slack.com/services/T0/B0/the-token';
const SMTP = 'smtps://mirror%40example.com:the-password@mail.example.com';
const MAIL = { ALERT_EMAIL: 'ops@example.com', SMTP_URL: SMTP };

test('without a variable, alerts go nowhere', () => {
  expect(readConfig({}).process.alerts).toEqual({ webhook: null, email: null });
});

test('a webhook and e-mail may both be set', () => {
  const environment = { ALERT_WEBHOOK_URL: WEBHOOK, ...MAIL, ALERT_EMAIL: 'ops@example.com, b@example.com' };
  expect(readConfig(environment).process.alerts).toEqual({
    webhook: { url: WEBHOOK, proxy: null },
    email: { to: ['ops@example.com', 'b@example.com'], from: 'mirror@example.com', smtpUrl: SMTP },
  });
});

test.each([
  [{}, 'mirror@example.com'],
  [{ ALERT_EMAIL_FROM: 'robot@example.com' }, 'robot@example.com'],
  [{ SMTP_URL: 'smtp://mail.example.com:25' }, 'ops@example.com'],
])('e-mail with %j is from %s', (more, from) => {
  expect(readConfig({ ...MAIL, ...more }).process.alerts.email?.from).toBe(from);
});

test.each([
  [{ ALERT_WEBHOOK_URL: 'the-token' }, 'ALERT_WEBHOOK_URL must be an address such as https://'],
  [
    { ALERT_WEBHOOK_URL: 'http://chat.example.com/the-token' },
    'ALERT_WEBHOOK_URL must be an address such as https://',
  ],
  [
    { HTTPS_PROXY: 'http://u:the-token%ZZ@proxy:3128' },
    'HTTPS_PROXY must look like http://proxy.example.com:3128, its user and password percent-encoded',
  ],
  [{ ALERT_EMAIL: 'ops@example.com' }, 'ALERT_EMAIL and SMTP_URL (or SMTP_URL_FILE) need each other'],
  [{ ...MAIL, ALERT_EMAIL: 'a@b\r\nBcc: c@d' }, 'ALERT_EMAIL.0 must be an address such as ops@example.com'],
  [
    { ...MAIL, ALERT_EMAIL_FROM: 'Ops <ops@example.com>' },
    'ALERT_EMAIL_FROM must be an address such as ops@example.com',
  ],
  [{ ...MAIL, SMTP_URL: 'mail.example.com:the-password' }, 'SMTP_URL must look like smtps://'],
  [{ ...MAIL, SMTP_URL: 'smtps://the-password@mail.example.com' }, 'SMTP_URL must look like smtps://'],
  [{ ...MAIL, SMTP_URL: 'smtps://a:the-password%@mail.example.com' }, 'SMTP_URL must look like smtps://'],
])('%j is refused: %s', (environment, words) => {
  expect(() => readConfig(environment)).toThrow(words);
  expect(() => readConfig(environment)).not.toThrow(/the-token|the-password/);
});
