// Messages as e-mail. All attempts at one message have the same Message-ID, and the message of the resolution is a
// reply to that of the alert, so that mail programs show both as one conversation.

import { Socket } from 'node:net';
import { describeUnreachable, mayHaveArrived } from '../../base/describe-error.ts';
import { AlertNotSent } from '../../base/errors.ts';
import type { EmailSettings } from '../../config/process/alerts.ts';
import { isLoopback } from '../../config/program/program-access.ts';
import type { Channel, Message } from './message.ts';

/** The longest subject: mail programs cut what is longer. */
const MOST_SUBJECT = 150;

/** nodemailer is loaded with the first message. */
export function makeEmail(settings: EmailSettings): Channel {
  const { hostname, port } = new URL(settings.smtpUrl);
  const readers = settings.to.length === 1 ? '1 address' : `${settings.to.length} addresses`;
  return {
    kind: 'email',
    name: `${readers} through ${hostname}${port === '' ? '' : `:${port}`}`,
    send: (message, signal) => deliver(settings, message, signal),
  };
}

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
  // Our own socket, because nodemailer cannot abort a delivery.
  const socket = new Socket({ signal });
  try {
    const transport = createTransport({ ...transportOptions(settings.smtpUrl), socket });
    const { rejected } = await transport.sendMail(compose(settings, message));
    return describeRefused(new URL(settings.smtpUrl).hostname, rejected.length);
  } catch (error) {
    throw explain(new URL(settings.smtpUrl).hostname, error, signal);
  } finally {
    // Without waiting: a server may take long to close.
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
  // A connection to this machine itself need not be encrypted, and its certificate is not checked.
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

/** The message has been sent to the other addresses, and must not be sent again. */
function describeRefused(host: string, refused: number): string | null {
  if (refused === 0) return null;
  return `${host}: it refuses ${refused === 1 ? '1 address' : `${refused} addresses`} of ALERT_EMAIL, and took the message for the others`;
}

/** By nodemailer's code. */
const REFUSALS: Readonly<Record<string, string>> = {
  EAUTH: 'it refuses the user or the password of SMTP_URL',
  EENVELOPE: 'it refuses the message, its sender or its addresses: check ALERT_EMAIL and ALERT_EMAIL_FROM',
  EMESSAGE: 'it refuses the message',
  ETLS: 'it does not offer STARTTLS, and nothing is sent unencrypted to another machine',
};

/** The server's own words are not shown: they may repeat the message. */
function explain(host: string, error: unknown, signal: AbortSignal): AlertNotSent {
  const {
    responseCode,
    originalCode,
    code: ownCode = '',
  } = (error ?? {}) as {
    responseCode?: number;
    originalCode?: string;
    code?: string;
  };
  if (responseCode !== undefined && !signal.aborted) {
    const isFinal = responseCode >= 500 && ownCode === 'EMESSAGE';
    const isRefused = responseCode >= 500 || ownCode === 'ETLS';
    const why = isRefused ? (REFUSALS[ownCode] ?? 'it takes no mail from here') : 'it takes no mail for now';
    // Any answer means that the message was not accepted.
    return new AlertNotSent(`${host}: ${why} (SMTP_${responseCode})`, `SMTP_${responseCode}`, { isFinal });
  }
  // If the signal ends the socket, nodemailer's code is another one.
  const code = signal.aborted ? 'ETIMEDOUT' : (originalCode ?? (ownCode || 'NO_ANSWER'));
  const why = code === 'ETLS' ? `${REFUSALS[code]} (ETLS)` : describeUnreachable(code);
  return new AlertNotSent(`${host}: ${why}`, code, { mayHaveArrived: mayHaveArrived(code) });
}
