// Messages as e-mail. The attempts at one message have the same Message-ID, and that it is well again answers the
// message that it was not, so that mail programs show both as one conversation.

import { Socket } from 'node:net';
import type { EmailSettings } from '../config/alerts.ts';
import { isLoopback } from '../config/program-access.ts';
import { describeUntrusted } from '../describe-error.ts';
import { AlertNotSent } from '../errors.ts';
import { type Channel, mayHaveArrived } from './channel.ts';
import type { Message } from './message.ts';

/** The longest subject: mail programs cut what is longer. */
const MOST_SUBJECT = 150;

/** Returns the channel. nodemailer is loaded with the first message. */
export function makeEmail(settings: EmailSettings): Channel {
  const { hostname, port } = new URL(settings.smtpUrl);
  const readers = settings.to.length === 1 ? '1 address' : `${settings.to.length} addresses`;
  return {
    kind: 'email',
    name: `${readers} through ${hostname}${port === '' ? '' : `:${port}`}`,
    send: (message, signal) => deliver(settings, message, signal),
  };
}

/** Returns the text of the e-mail. */
export function toText({ title, facts }: Message): string {
  const width = Math.max(...facts.map(([label]) => label.length));
  const lines = facts.map(([label, value]) => `${`${label}:`.padEnd(width + 2)}${value}`);
  return `${title.charAt(0).toUpperCase()}${title.slice(1)}.\n\n${lines.join('\n')}\n`;
}

async function deliver(
  settings: EmailSettings,
  message: Message,
  signal: AbortSignal,
): Promise<string | null> {
  const { createTransport } = await import('nodemailer');
  // Our own, since nodemailer ends no delivery that has begun.
  const socket = new Socket({ signal });
  try {
    const transport = createTransport({ ...transportOptions(settings.smtpUrl), socket });
    const { rejected } = await transport.sendMail(compose(settings, message));
    return describeRefused(new URL(settings.smtpUrl).hostname, rejected.length);
  } catch (error) {
    throw describeFailure(new URL(settings.smtpUrl).hostname, error, signal);
  } finally {
    // Left at once: a server may take long to say goodbye.
    socket.on('error', () => {}).destroy();
  }
}

function compose({ from, to }: EmailSettings, message: Message) {
  const idOf = (key: string) => `<${key}@${from.slice(from.lastIndexOf('@') + 1)}>`;
  const { key, follows } = message;
  return {
    from,
    to: [...to],
    subject: `affiliate-mirror: ${message.title}`.slice(0, MOST_SUBJECT),
    text: toText(message),
    messageId: idOf(key),
    ...(follows !== null && { inReplyTo: idOf(follows), references: idOf(follows) }),
    // Source: RFC 3834. Keeps out-of-office replies away.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function transportOptions(smtpUrl: string) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const secure = protocol === 'smtps:';
  // Nothing that goes to this machine itself has to be encrypted, whoever its certificate is for.
  const isHere = !secure && isLoopback(hostname);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !isHere,
    ...(isHere && { tls: { rejectUnauthorized: false } }),
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    allowInternalNetworkInterfaces: true,
  };
}

/** For the others it has left, and must not be sent again. */
function describeRefused(host: string, refused: number): string | null {
  if (refused === 0) return null;
  return `${host}: it refuses ${refused === 1 ? '1 address' : `${refused} addresses`} of ALERT_EMAIL, and took the message for the others`;
}

const NO_TLS = 'it does not offer the encryption (STARTTLS) without which nothing is sent to another machine';

/** By nodemailer's code, what a refusal is about. */
const REFUSALS: Readonly<Record<string, string>> = {
  EAUTH: 'it refuses the user or the password of SMTP_URL',
  EENVELOPE: 'it refuses the message, its sender or its addresses: check ALERT_EMAIL and ALERT_EMAIL_FROM',
  EMESSAGE: 'it refuses the message',
};

/** The server's own words may repeat what it was sent: they are not shown. */
function describeFailure(host: string, error: unknown, signal: AbortSignal): AlertNotSent {
  // Of a socket that ends with the signal nodemailer says something else.
  const {
    responseCode,
    originalCode,
    code: ownCode = '',
  } = (signal.aborted ? { code: 'ETIMEDOUT' } : (error ?? {})) as {
    responseCode?: number;
    originalCode?: string;
    code?: string;
  };
  const networkCode = originalCode ?? (ownCode || 'NO_ANSWER');
  const isRefused = responseCode !== undefined && responseCode >= 500;
  const untrusted = describeUntrusted(
    Object.assign(new Error(), { code: networkCode }),
    'NODE_EXTRA_CA_CERTS',
  );
  const why =
    untrusted ??
    (ownCode === 'ETLS' && originalCode === undefined ? NO_TLS : null) ??
    (isRefused ? (REFUSALS[ownCode] ?? 'it takes no mail from here') : null) ??
    (ownCode === 'ETIMEDOUT' ? 'it does not answer in time' : 'the connection failed');
  const code = responseCode === undefined ? networkCode : `SMTP_${responseCode}`;
  return new AlertNotSent(`${host}: ${why} (${code})`, code, {
    isFinal: isRefused && ownCode === 'EMESSAGE',
    // An answer, whatever it says, is one: the message is not there.
    mayHaveArrived: untrusted === null && responseCode === undefined && mayHaveArrived(networkCode),
  });
}
