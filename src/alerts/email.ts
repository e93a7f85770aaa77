// Messages as e-mail. The attempts at one message have the same Message-ID, and that it is well again answers the
// message that it was not, so that mail programs show both as one conversation.

import { Readable } from 'node:stream';
import type { EmailSettings } from '../config/alerts.ts';
import { isLoopback } from '../config/program-access.ts';
import { describeUntrusted, errorCode } from '../describe-error.ts';
import { AlertNotSent, RequestWithheld } from '../errors.ts';
import { type Channel, ReceiverTimedOut, type SendControl } from './channel.ts';
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
    send: (message, control) => deliver(settings, hostname, message, control),
  };
}

/** Returns the text of the e-mail. */
export function toText({ title, facts }: Message): string {
  const width = Math.max(...facts.map(([label]) => label.length));
  const lines = facts.map(([label, value]) => `${`${label}:`.padEnd(width + 2)}${value}`);
  return `${title.charAt(0).toUpperCase()}${title.slice(1)}.\n\n${lines.join('\n')}\n`;
}

async function compose({ from, to }: EmailSettings, message: Message): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const idOf = (key: string) => `<${key}@${from.slice(from.lastIndexOf('@') + 1)}>`;
  const follows =
    message.follows === null ? {} : { inReplyTo: idOf(message.follows), references: idOf(message.follows) };
  const composer = new MailComposer({
    from,
    to: [...to],
    subject: `affiliate-mirror: ${message.title}`.slice(0, MOST_SUBJECT),
    text: toText(message),
    messageId: idOf(message.key),
    ...follows,
    // Source: RFC 3834. Keeps out-of-office replies away.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}

async function deliver(
  settings: EmailSettings,
  host: string,
  message: Message,
  { mayLeave, signal, timeoutMs }: SendControl,
): Promise<string | null> {
  const letter = await compose(settings, message);
  const { default: SmtpConnection } = await import('nodemailer/lib/smtp-connection');
  signal.throwIfAborted();
  const connection = new SmtpConnection(connectionOptions(settings, timeoutMs));
  const login = readLogin(settings);
  let hasLeft = false;
  let step: Step = 'connect';
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const stop = () => {
    if (!hasLeft) reject(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => reject(new ReceiverTimedOut()), timeoutMs);
  // Once it is read, the server has agreed to take it: this is the last moment to keep it back.
  const gate = new Readable({
    read() {
      if (hasLeft) return;
      if (!mayLeave()) return void this.destroy(new RequestWithheld('the claim of an alert has ended'));
      hasLeft = true;
      this.push(letter);
      this.push(null);
    },
  });
  let withheld: Error | null = null;
  gate.on('error', (error) => {
    withheld = error;
  });
  try {
    connection.on('error', reject);
    await Promise.race([broken, new Promise<void>((done) => connection.connect(() => done()))]);
    if (login !== null) {
      step = 'login';
      await Promise.race([broken, asPromise((done) => connection.login(login, done))]);
    }
    step = 'send';
    const envelope = { from: settings.from, to: [...settings.to] };
    const info = await Promise.race([
      broken,
      asPromise<{ readonly rejected?: readonly unknown[] }>((done) => connection.send(envelope, gate, done)),
    ]);
    return describeRefused(host, info?.rejected?.length ?? 0);
  } catch (error) {
    if (withheld !== null) throw withheld;
    if (signal.aborted && error === signal.reason) throw error;
    throw describeFailure(host, step, error, hasLeft);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    broken.catch(() => undefined);
    // Left at once, whatever else the server has to say.
    connection.on('error', () => {});
    connection.close();
  }
}

type Step = 'connect' | 'login' | 'send';

// It has left for the others: for them, it must not be sent again.
function describeRefused(host: string, refused: number): string | null {
  if (refused === 0) return null;
  return `${host}: it refuses ${refused === 1 ? '1 address' : `${refused} addresses`} of ALERT_EMAIL, and took the message for the others`;
}

function asPromise<T>(
  call: (done: (error: Error | null, result?: T) => void) => void,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)));
  });
}

function connectionOptions({ smtpUrl }: EmailSettings, timeoutMs: number) {
  const { protocol, hostname, port } = new URL(smtpUrl);
  const secure = protocol === 'smtps:';
  // Nothing that goes to this machine itself has to be encrypted, whoever its certificate is for.
  const isHere = !secure && isLoopback(hostname);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !isHere,
    ...(isHere && { tls: { rejectUnauthorized: false } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    logger: false as const,
    allowInternalNetworkInterfaces: true,
  };
}

function readLogin({ smtpUrl }: EmailSettings): { user: string; pass: string } | null {
  const { username, password } = new URL(smtpUrl);
  if (username === '') return null;
  return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
}

// The server's own words may repeat what it was sent.
function describeFailure(host: string, step: Step, error: unknown, hasLeft: boolean): AlertNotSent {
  const { responseCode, originalCode } = (error ?? {}) as { responseCode?: number; originalCode?: string };
  const nodeCode = /^[A-Z0-9_]+$/.test(originalCode ?? errorCode(error))
    ? (originalCode ?? errorCode(error))
    : 'NO_ANSWER';
  const code = responseCode === undefined ? nodeCode : `SMTP_${responseCode}`;
  const isRefused = responseCode !== undefined && responseCode >= 500;
  const untrusted = describeUntrusted(Object.assign(new Error(), { code: nodeCode }), 'NODE_EXTRA_CA_CERTS');
  const isUnencrypted = errorCode(error) === 'ETLS' && originalCode === undefined;
  const why =
    untrusted ??
    (isUnencrypted ? NO_TLS : null) ??
    (isRefused ? REFUSALS[step] : null) ??
    (nodeCode === 'ETIMEDOUT' ? 'it does not answer in time' : 'the connection failed');
  return new AlertNotSent(`${host}: ${why} (${code})`, code, {
    isFinal: isRefused && step === 'send' && hasLeft,
    // An answer, whatever it says, is one: the message is not there.
    mayHaveArrived: hasLeft && responseCode === undefined,
  });
}

const REFUSALS: Readonly<Record<Step, string>> = {
  connect: 'it takes no mail from here',
  login: 'it refuses the user or the password of SMTP_URL',
  send: 'it refuses the message, its sender or its addresses: check ALERT_EMAIL and ALERT_EMAIL_FROM',
};

const NO_TLS = 'it does not offer the encryption (STARTTLS) without which nothing is sent to another machine';
