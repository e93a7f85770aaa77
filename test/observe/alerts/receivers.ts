// Receivers of alerts for a test: an HTTP server that takes what Slack takes, and a mail server. They end with the
// test.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { Certificates } from '../../support/certificates.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly text: string; readonly blocks: unknown };
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Receiver {
  readonly url: string;
  /** Everything that came, also what was not taken. */
  readonly received: readonly Received[];
  /** The texts that it took. */
  readonly texts: () => readonly string[];
  /** What it answers from now on; null: nothing at all. */
  answer: (request: Received) => Answer | null | Promise<Answer>;
}

const OK: Answer = { status: 200 };

/** Returns a receiver, listening; with certificates, by https. */
export async function startReceiver(certificates?: Certificates): Promise<Receiver> {
  const received: Received[] = [];
  const taken: Received[] = [];
  const server = certificates === undefined ? createServer() : createSecureServer(certificates.server);
  server.on('request', async (request, response) => {
    // A sender that breaks off has sent nothing.
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(body) };
    received.push(one);
    const answer = await receiver.answer(one);
    if (answer === null) return;
    if (answer.status < 300) taken.push(one);
    response.writeHead(answer.status, answer.headers).end('an answer that nobody may see');
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const receiver: Receiver = {
    url: `${certificates === undefined ? 'http' : 'https'}://127.0.0.1:${port}/services/T0/B0/the-token`,
    received,
    texts: () => taken.map(({ body }) => body.text),
    answer: () => OK,
  };
  return receiver;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly isSecure: boolean;
  readonly user: string | undefined;
  /** As it came: headers and text. */
  readonly text: string;
}

/** Returns the port of a mail server and what it took. */
export async function startMailServer(
  options: SMTPServerOptions = {},
): Promise<{ readonly port: number; readonly mails: readonly Mail[]; readonly server: SMTPServer }> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth: ({ username, password }, _, done) =>
      password === 'the-password'
        ? done(null, { user: username })
        : done(new Error(`no ${password} for ${username}`)),
    onData(stream, session, done) {
      text(stream).then((all) => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: session.user,
          text: all,
        });
        done();
      }, done);
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((closed) => server.close(closed)));
  return { port: (server.server.address() as AddressInfo).port, mails, server };
}

async function listen(server: {
  listen(port: number, host: string): unknown;
  address(): unknown;
}): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server as never, 'listening');
  return (server.address() as AddressInfo).port;
}
