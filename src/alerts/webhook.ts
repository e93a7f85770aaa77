// Messages as JSON to an address that takes what Slack takes. The address is a secret: Slack's has a token in its path.

import { Agent, EnvHttpProxyAgent, request } from 'undici';
import type { HttpProxy } from '../config/http-proxy.ts';
import { readRetryAfter } from '../contract/retry-after.ts';
import { describeUntrusted, errorCode } from '../describe-error.ts';
import { AlertNotSent } from '../errors.ts';
import { type Channel, mayHaveArrived } from './channel.ts';
import type { Message } from './message.ts';

/** Answers that say that this very message is not taken: the next one may be. */
const ABOUT_THE_MESSAGE = [400, 413, 422];

/** Returns the channel. */
export function makeWebhook({ url, proxy }: { url: string; proxy: HttpProxy | null }): Channel {
  const address = new URL(url);
  return {
    kind: 'webhook',
    name: address.host,
    async send(message, signal) {
      const { statusCode: status, headers } = await post(address, proxy, message, signal);
      if (status >= 200 && status < 300) return null;
      throw new AlertNotSent(describeStatus(address.host, status), `HTTP_${status}`, {
        isFinal: ABOUT_THE_MESSAGE.includes(status),
        // At once, or in the past, says nothing: how often it failed already does.
        retryAfterMs: readRetryAfter(headers, Date.now()) || null,
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

async function post(address: URL, proxy: HttpProxy | null, message: Message, signal: AbortSignal) {
  // Given as it is: undici would otherwise read the environment itself. What is in the clear stays on this machine.
  const dispatcher =
    proxy === null || address.protocol === 'http:'
      ? new Agent()
      : new EnvHttpProxyAgent({ httpProxy: '', httpsProxy: proxy.url, noProxy: proxy.exceptions });
  try {
    return await request(address, {
      method: 'POST',
      body: JSON.stringify(toSlack(message)),
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'affiliate-mirror',
        'idempotency-key': message.key,
      },
      dispatcher,
      signal,
    });
  } catch (error) {
    throw describeFailure(address.host, error, signal);
  } finally {
    // Redirects are not followed, and only the status counts. What the answer says may hold anything, or never end: it
    // is broken off unread.
    void dispatcher.destroy();
  }
}

function describeStatus(host: string, status: number): string {
  const isOurs = status >= 300 && status < 500 && status !== 429;
  const fix = ': check ALERT_WEBHOOK_URL, which must take the JSON that Slack takes, and not redirect';
  return `${host} answers ${status}${isOurs ? fix : ''}`;
}

function describeFailure(host: string, error: unknown, signal: AbortSignal): AlertNotSent {
  if (signal.aborted)
    return new AlertNotSent(`${host}: does not answer in time`, 'ETIMEDOUT', { mayHaveArrived: true });
  const untrusted = describeUntrusted(error, 'NODE_EXTRA_CA_CERTS');
  const code = errorCode(error) || 'NO_ANSWER';
  return new AlertNotSent(`${host}: ${untrusted ?? `cannot be reached (${code})`}`, code, {
    mayHaveArrived: untrusted === null && mayHaveArrived(code),
  });
}
