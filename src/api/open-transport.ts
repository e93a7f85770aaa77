// The connections to the API: direct ones, or through a tunnel of a proxy (CONNECT), which sees neither requests nor
// the secret. A request counts as sent from its first byte in the tunnel on: a failure before that is one of
// connecting.

import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { HttpProxy } from '../config/process/http-proxy.ts';

export interface Transport {
  readonly dispatcher: Dispatcher;
  /** For messages: names the proxy; empty if none is set. */
  readonly way: string;
  close(): Promise<void>;
}

/** No connection is open yet. */
export function openTransport(origin: string, proxy: HttpProxy | null, timeoutMs: number): Transport {
  const options: Pool.Options = {
    // One request per connection at a time and nothing re-sent by the transport, as HTTP/2 may do: the outcome
    // of a PUT must be known from its own connection.
    allowH2: false,
    pipelining: 1,
    // The attempt's own timeout covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  // `http:` is for this machine only (see config/program/program-access.ts): a proxy could not reach it, and would see
  // the secret.
  if (proxy === null || origin.startsWith('http:')) {
    const pool = new Pool(origin, { ...options, connect: { timeout: timeoutMs } });
    return { dispatcher: pool, way: '', close: () => pool.destroy() };
  }
  const agent = new EnvHttpProxyAgent({
    ...options,
    // Given as they are: undici would otherwise read the environment itself.
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.exceptions,
    connect: { timeout: timeoutMs },
    connectTimeout: timeoutMs,
    requestTls: { allowH2: false },
  });
  return {
    dispatcher: agent,
    // Without the user and the password that the address may hold.
    way: ` (HTTPS_PROXY ${new URL(proxy.url).origin})`,
    close: () => agent.destroy(),
  };
}
