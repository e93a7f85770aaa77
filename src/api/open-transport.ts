// The connections to the program: direct ones, or through a proxy, which is asked for a tunnel (CONNECT) and sees
// neither requests nor the secret. A request counts as sent from its first byte in the tunnel on: whatever fails before
// that is connecting, as without a proxy.

import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { HttpProxy } from '../config/http-proxy.ts';

export interface Transport {
  readonly dispatcher: Dispatcher;
  /** Names the proxy in a message, which a host of NO_PROXY does without; empty where none is set. */
  readonly way: string;
  close(): Promise<void>;
}

/** Returns connections to the origin, none of them open yet. */
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
  // What is in the clear stays on this machine (see config/program-access.ts): a proxy could not reach it, and would
  // see the secret.
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
