// One letter over one connection to an SMTP server, and what is said of it where that fails.

import { Readable } from 'node:stream';
import type SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { EmailSettings } from '../config/alerts.ts';
import { isLoopback } from '../config/program-access.ts';
import { describeUntrusted, errorCode } from '../describe-error.ts';
import { AlertNotSent, RequestWithheld } from '../errors.ts';
import { ReceiverTimedOut, type SendControl } from './channel.ts';

/** What is under way when a delivery fails. */
type Step = 'connect' | 'login' | 'send';

/** Sends the letter, as `Channel.send` does; throws what it throws. */
export async function deliver(
  { smtpUrl, from, to }: EmailSettings,
  letter: Buffer,
  control: SendControl,
): Promise<string | null> {
  const { default: Connection } = await import('nodemailer/lib/smtp-connection');
  const { signal } = control;
  signal.throwIfAborted();
  const host = new URL(smtpUrl).hostname;
  const login = readLogin(smtpUrl);
  const connection = new Connection(connectionOptions(smtpUrl, control.timeoutMs));
  const gate = makeGate(letter, control.mayLeave);
  const end = watchForEnd(connection, gate, control);
  let step: Step = 'connect';
  try {
    await end.orResultOf(new Promise<void>((done) => connection.connect(() => done())));
    if (login !== null) {
      step = 'login';
      await end.orResultOf(asPromise((done) => connection.login(login, done)));
    }
    step = 'send';
    const info = await end.orResultOf(
      asPromise<SmtpConnection.SentMessageInfo>((done) =>
        connection.send({ from, to: [...to] }, gate.letter, done),
      ),
    );
    return describeRefused(host, info?.rejected?.length ?? 0);
  } catch (error) {
    const withheld = gate.withheld();
    if (withheld !== null) throw withheld;
    if (signal.aborted && error === signal.reason) throw error;
    throw describeFailure(host, step, error, gate.hasLeft());
  } finally {
    end.stopWatching();
    // Left at once, whatever else the server has to say.
    connection.on('error', () => {});
    connection.close();
  }
}

interface Gate {
  /** Read by the connection once the server has agreed to take it: the last moment to keep it back. */
  readonly letter: Readable;
  hasLeft(): boolean;
  /** Why it was kept back; null where it was not. */
  withheld(): Error | null;
}

function makeGate(bytes: Buffer, mayLeave: () => boolean): Gate {
  let hasLeft = false;
  let withheld: Error | null = null;
  const letter = new Readable({
    read() {
      if (hasLeft) return;
      if (!mayLeave()) return void this.destroy(new RequestWithheld('the claim of an alert has ended'));
      hasLeft = true;
      this.push(bytes);
      this.push(null);
    },
  });
  letter.on('error', (error) => {
    withheld = error;
  });
  return { letter, hasLeft: () => hasLeft, withheld: () => withheld };
}

interface End {
  /** Returns what the step returns. Throws: what it throws, or why the delivery ended before. */
  orResultOf<T>(step: Promise<T>): Promise<T>;
  stopWatching(): void;
}

/** Ends a delivery whose connection breaks, whose time is over, or that is aborted before the letter has left. */
function watchForEnd(connection: SmtpConnection, gate: Gate, { signal, timeoutMs }: SendControl): End {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // It may end while nobody waits for a step.
  ended.catch(() => {});
  const stop = () => {
    if (!gate.hasLeft()) reject(signal.reason);
  };
  connection.on('error', reject);
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => reject(new ReceiverTimedOut()), timeoutMs);
  return {
    orResultOf: (step) => Promise.race([ended, step]),
    stopWatching() {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    },
  };
}

function asPromise<T>(
  call: (done: (error?: Error | null, result?: T) => void) => void,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)));
  });
}

function connectionOptions(smtpUrl: string, timeoutMs: number): SmtpConnection.Options {
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
    logger: false,
    allowInternalNetworkInterfaces: true,
  };
}

function readLogin(smtpUrl: string): SmtpConnection.Credentials | null {
  const { username, password } = new URL(smtpUrl);
  if (username === '') return null;
  return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
}

/** For the others it has left, and must not be sent again. */
function describeRefused(host: string, refused: number): string | null {
  if (refused === 0) return null;
  return `${host}: it refuses ${refused === 1 ? '1 address' : `${refused} addresses`} of ALERT_EMAIL, and took the message for the others`;
}

const REFUSALS: Readonly<Record<Step, string>> = {
  connect: 'it takes no mail from here',
  login: 'it refuses the user or the password of SMTP_URL',
  send: 'it refuses the message, its sender or its addresses: check ALERT_EMAIL and ALERT_EMAIL_FROM',
};

const NO_TLS = 'it does not offer the encryption (STARTTLS) without which nothing is sent to another machine';

/** The server's own words may repeat what it was sent: they are not shown. */
function describeFailure(host: string, step: Step, error: unknown, hasLeft: boolean): AlertNotSent {
  const { responseCode: status, originalCode } = (error ?? {}) as {
    responseCode?: number;
    originalCode?: string;
  };
  const ownCode = originalCode ?? errorCode(error);
  const networkCode = /^[A-Z0-9_]+$/.test(ownCode) ? ownCode : 'NO_ANSWER';
  const isRefused = status !== undefined && status >= 500;
  const isUnencrypted = errorCode(error) === 'ETLS' && originalCode === undefined;
  const why =
    describeUntrusted(Object.assign(new Error(), { code: networkCode }), 'NODE_EXTRA_CA_CERTS') ??
    (isUnencrypted ? NO_TLS : null) ??
    (isRefused ? REFUSALS[step] : null) ??
    (networkCode === 'ETIMEDOUT' ? 'it does not answer in time' : 'the connection failed');
  const code = status === undefined ? networkCode : `SMTP_${status}`;
  return new AlertNotSent(`${host}: ${why} (${code})`, code, {
    isFinal: isRefused && step === 'send' && hasLeft,
    // An answer, whatever it says, is one: the message is not there.
    mayHaveArrived: hasLeft && status === undefined,
  });
}
