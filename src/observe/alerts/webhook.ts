// Messages as JSON in Slack's format. The address is a secret: Slack's has a token in its path.

import { Agent, EnvHttpProxyAgent, request } from 'undici';
import { describeUnreachable, mayHaveArrived, networkCode } from '../../base/describe-error.ts';
import { AlertNotSent } from '../../base/errors.ts';
import type { HttpProxy } from '../../config/process/http-proxy.ts';
import { readRetryAfter } from '../../contract/retry-after.ts';
import type { Channel, Message } from './message.ts';

/** Statuses that refuse this message, but perhaps not the next one. */
const ABOUT_THE_MESSAGE = [400, 413, 422];

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
        // A wait of 0, or in the past, is no request: the backoff applies.
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
  // All options are given: undici would otherwise read the environment itself. `http:` is for this machine only.
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
    const code = networkCode(error) || 'NO_ANSWER';
    throw new AlertNotSent(`${address.host}: ${describeUnreachable(code)}`, code, {
      mayHaveArrived: mayHaveArrived(code),
    });
  } finally {
    // Only the status counts, and redirects are not followed. The body may never end: it is aborted unread.
    void dispatcher.destroy();
  }
}

function describeStatus(host: string, status: number): string {
  const isOurs = status >= 300 && status < 500 && status !== 429;
  const fix = ': check ALERT_WEBHOOK_URL, which must take the JSON that Slack takes, and not redirect';
  return `${host} answers ${status}${isOurs ? fix : ''}`;
}
