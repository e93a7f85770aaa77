// The channels of alerts: a webhook as Slack has it, e-mail, or both. Both addresses hold secrets, so each may be in a
// file that a variable names.

import { z } from 'zod';
import { isLoopback } from '../program/program-access.ts';
import { readSecretText } from '../read-secret-text.ts';
import { readUrl } from '../reading.ts';
import { names, optional, type Values } from '../variable.ts';
import type { HttpProxy } from './http-proxy.ts';

export interface EmailSettings {
  readonly to: readonly string[];
  readonly from: string;
  /** Holds the password. */
  readonly smtpUrl: string;
}

export interface AlertSettings {
  readonly webhook: { readonly url: string; readonly proxy: HttpProxy | null } | null;
  readonly email: EmailSettings | null;
}

/** Tells an address from a name, and lets no header through; the mail server decides the rest. */
const ADDRESS = /^[^\s@<>"',;:\\]+@[^\s@<>"',;:\\]+$/;

const mailbox = z.string().regex(ADDRESS, 'must be an address such as ops@example.com');

/** Returns the channels; problems are added to `problems`. */
export function readAlertSettings(
  given: Readonly<Record<string, string | undefined>>,
  { ALERT_EMAIL: to = [], ALERT_EMAIL_FROM: from }: Values<typeof ALERT_VARIABLES>,
  proxy: HttpProxy | null,
  problems: string[],
): AlertSettings {
  const webhookUrl = readAddress(given, 'ALERT_WEBHOOK_URL', findWebhookProblem, problems);
  const smtpUrl = readAddress(given, 'SMTP_URL', findSmtpProblem, problems);
  const isSmtpSet = given['SMTP_URL'] !== undefined || given['SMTP_URL_FILE'] !== undefined;
  if (isSmtpSet !== to.length > 0) {
    problems.push('ALERT_EMAIL and SMTP_URL (or SMTP_URL_FILE) need each other: set both or none');
  }
  return {
    webhook: webhookUrl === null ? null : { url: webhookUrl, proxy },
    email:
      smtpUrl === null || to.length === 0
        ? null
        : { to, from: from ?? userOf(smtpUrl) ?? to[0] ?? '', smtpUrl },
  };
}

// Most servers refuse to send in another user's name.
function userOf(smtpUrl: string): string | null {
  const user = decodeURIComponent(new URL(smtpUrl).username);
  return ADDRESS.test(user) ? user : null;
}

function readAddress(
  given: Readonly<Record<string, string | undefined>>,
  name: string,
  findProblem: (text: string) => string | null,
  problems: string[],
): string | null {
  const secret = readSecretText(name, given, problems);
  if (secret === null) return null;
  const address = secret.text.trim();
  // The message does not quote the address: it is a secret.
  const problem = findProblem(address);
  if (problem === null) return address;
  problems.push(`${secret.from} ${problem}`);
  return null;
}

function findWebhookProblem(text: string): string | null {
  const url = readUrl(text);
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (isSecure) return null;
  return 'must be an address such as https://hooks.slack.com/services/…: over http:// it would travel in the clear';
}

function findSmtpProblem(text: string): string | null {
  const url = readUrl(text);
  const isUsable =
    url !== null &&
    ['smtp:', 'smtps:'].includes(url.protocol) &&
    url.hostname !== '' &&
    url.pathname.length <= 1 &&
    (url.username === '') === (url.password === '');
  if (isUsable) return null;
  return 'must look like smtps://user:password@mail.example.com:465, or smtp:// with port 587: user and password percent-encoded, both or none';
}

/** The variables of this part, as variables.ts lists them. */
export const ALERT_VARIABLES = {
  ALERT_WEBHOOK_URL: optional('webhook that [alerts](alerts.md) go to; a secret', z.string()),
  ALERT_WEBHOOK_URL_FILE: optional('a file that holds that address', z.string()),
  ALERT_EMAIL: optional(
    'addresses that alerts are mailed to, with commas between them',
    names.pipe(z.array(mailbox)),
  ),
  ALERT_EMAIL_FROM: optional(
    'who they are from',
    mailbox,
    'the user of `SMTP_URL` if it is an address, else the first of `ALERT_EMAIL`',
  ),
  SMTP_URL: optional(
    'the mail server, `smtps://user:password@mail.example.com`, or `smtp://` for STARTTLS; a secret',
    z.string(),
  ),
  SMTP_URL_FILE: optional('a file that holds that address', z.string()),
};
