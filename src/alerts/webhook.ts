// Messages as JSON to an address that takes what Slack takes. The address is a secret: Slack's has a token in its path.
//
// Decision: Node's own request, not fetch. It tells when the connection is there, and the message is handed to it then:
// whether the message may still leave is known at that moment, and what fails before it has certainly not arrived. It
// follows no redirect, and goes through the proxy that it is given.

import { Agent as HttpAgent, type IncomingMessage, request as requestPlain } from 'node:http';
import { Agent, request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { HttpProxy } from '../config/http-proxy.ts';
import { readRetryAfter } from '../contract/retry-after.ts';
import { describeUntrusted, errorCode } from '../describe-error.ts';
import { AlertNotSent, RequestWithheld } from '../errors.ts';
import { type Channel, ReceiverTimedOut, type SendControl } from './channel.ts';
import type { Message } from './message.ts';

/** Answers that say that this very message is not taken: the next one may be. */
const ABOUT_THE_MESSAGE = [400, 413, 422];

/** Returns the channel. */
export function makeWebhook({ url, proxy }: { url: string; proxy: HttpProxy | null }): Channel {
  const address = new URL(url);
  return {
    kind: 'webhook',
    name: address.host,
    async send(message, control) {
      const answer = await post(address, proxy, message, control);
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return null;
      throw new AlertNotSent(describeStatus(address.host, status), `HTTP_${status}`, {
        isFinal: ABOUT_THE_MESSAGE.includes(status),
        // At once, or in the past, says nothing: how often it failed already does.
        retryAfterMs: readRetryAfter(answer.headers, Date.now()) || null,
      });
    },
  };
}

/** Returns the JSON that Slack, Mattermost, Rocket.Chat and Discord (below /slack) take. */
export function toSlack({ title, facts }: Message): object {
  const lines = facts.map(([label, value]) =>
    label === 'Run' ? `${label}: \`${escapeForSlack(value)}\`` : `${label}: ${escapeForSlack(value)}`,
  );
  const heading = `affiliate-mirror: ${escapeForSlack(title)}`;
  return {
    text: [heading, ...lines].join('\n'),
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: `*${heading}*` } },
      { type: 'section', text: { type: 'mrkdwn', text: lines.join('\n') } },
    ],
  };
}

// Source: docs.slack.dev, "Formatting message text", Escaping text.
function escapeForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

async function post(
  address: URL,
  proxy: HttpProxy | null,
  message: Message,
  { mayLeave, signal, timeoutMs }: SendControl,
): Promise<IncomingMessage> {
  const body = Buffer.from(JSON.stringify(toSlack(message)));
  const isSecure = address.protocol === 'https:';
  const agent = isSecure ? new Agent(proxyOptions(proxy)) : new HttpAgent();
  const request = (isSecure ? requestSecure : requestPlain)(address, {
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
      'user-agent': 'affiliate-mirror',
      'idempotency-key': message.key,
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let hasLeft = false;
  const stop = () => {
    if (!hasLeft) request.destroy(signal.reason);
  };
  const timer = setTimeout(() => request.destroy(new ReceiverTimedOut()), timeoutMs);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  request.on('error', reject).on('response', (answer) => {
    // Only its status counts. What it says may hold anything, or never end: it is broken off unread.
    answer.on('error', () => {});
    resolve(answer);
  });
  request.on('socket', (socket) =>
    whenOpen(socket, isSecure, () => {
      if (request.destroyed) return;
      if (!mayLeave()) return void request.destroy(new RequestWithheld('the claim of an alert has ended'));
      hasLeft = true;
      request.end(body);
    }),
  );
  try {
    return await promise;
  } catch (error) {
    if (error instanceof RequestWithheld || (signal.aborted && error === signal.reason)) throw error;
    throw describeFailure(address.host, error, hasLeft);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    agent.destroy();
  }
}

function proxyOptions(proxy: HttpProxy | null) {
  return proxy === null ? {} : { proxyEnv: { HTTPS_PROXY: proxy.url, NO_PROXY: proxy.exceptions } };
}

function whenOpen(socket: Socket, isSecure: boolean, go: () => void): void {
  if (isSecure && socket instanceof TLSSocket && !isEncrypted(socket)) socket.once('secureConnect', go);
  else if (socket.connecting) socket.once('connect', go);
  else go();
}

// Before the handshake has ended, no cipher is agreed upon.
function isEncrypted(socket: TLSSocket): boolean {
  return !socket.connecting && socket.getCipher()?.name !== undefined;
}

function describeStatus(host: string, status: number): string {
  if (status >= 300 && status < 400) {
    return `${host} answers with a redirect (${status}), which is not followed: set ALERT_WEBHOOK_URL to where it leads`;
  }
  if ([401, 403, 404, 410].includes(status)) {
    return `${host} does not take messages at that address (${status}): check ALERT_WEBHOOK_URL`;
  }
  if (ABOUT_THE_MESSAGE.includes(status)) {
    return `${host} does not take the message (${status}): it must accept the JSON that Slack accepts`;
  }
  if (status === 429) return `${host} takes no further messages for now (429)`;
  return `${host} answers ${status}`;
}

function describeFailure(host: string, error: unknown, mayHaveArrived: boolean): AlertNotSent {
  const untrusted = describeUntrusted(error, 'NODE_EXTRA_CA_CERTS');
  const code = /^[A-Z0-9_]+$/.test(errorCode(error)) ? errorCode(error) : 'NO_ANSWER';
  const why = untrusted ?? (code === 'ETIMEDOUT' ? 'does not answer in time' : `cannot be reached (${code})`);
  return new AlertNotSent(`${host}: ${why}`, code, { mayHaveArrived });
}
