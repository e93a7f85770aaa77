// The connections to the program: direct ones, or through a proxy, which is asked for a tunnel (CONNECT) and sees
// neither requests nor the secret. A request counts as sent from its first byte in the tunnel on: whatever fails before
// that is connecting, as without a proxy.

import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { HttpProxy } from '../config/http-proxy.ts';
import { describeError } from '../describe-error.ts';

export interface Transport {
  readonly dispatcher: Dispatcher;
  /** Names the proxy, once one was used, for messages: ` through the proxy http://host:3128`. */
  describeWay(): string;
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
    return { dispatcher: pool, describeWay: () => '', close: () => pool.destroy() };
  }
  let isUsed = false;
  const name = nameProxy(proxy.url);
  const agent = new EnvHttpProxyAgent({
    ...options,
    // Given as they are: undici would otherwise read the environment itself.
    httpProxy: '',
    httpsProxy: proxy.url,
    noProxy: proxy.exceptions,
    connect: { timeout: timeoutMs },
    connectTimeout: timeoutMs,
    requestTls: { allowH2: false },
    clientFactory: (proxyOrigin, connecting) =>
      new Tunnels(proxyOrigin, { ...connecting, headersTimeout: timeoutMs }, name, () => {
        isUsed = true;
      }),
  });
  return {
    dispatcher: agent,
    describeWay: () => (isUsed ? ` through the proxy ${name}` : ''),
    close: () => agent.destroy(),
  };
}

/** Returns scheme, host and port: without the user and the password that the address may hold. */
function nameProxy(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

type Connected = Dispatcher.ConnectData;

/** The connections to the proxy itself. What goes wrong with them is said in its name. */
class Tunnels extends Pool {
  readonly #name: string;
  readonly #onUse: () => void;

  constructor(origin: URL, options: Pool.Options, name: string, onUse: () => void) {
    super(origin, options);
    this.#name = name;
    this.#onUse = onUse;
  }

  // undici calls it with the options alone, and takes any answer but 200 for a failure without a reason.
  override connect(options: Dispatcher.ConnectOptions): Promise<Connected>;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback: (error: Error | null, data: Connected) => void,
  ): void;
  override connect(options: Dispatcher.ConnectOptions): Promise<Connected> {
    this.#onUse();
    return this.#open(options);
  }

  async #open(options: Dispatcher.ConnectOptions): Promise<Connected> {
    let answer: Connected;
    try {
      answer = await super.connect(options);
    } catch (error) {
      throw new Error(`the proxy cannot be reached: ${describeError(error)}`);
    }
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => {}).destroy();
    throw new Error(explain(answer.statusCode, this.#name));
  }
}

function explain(status: number, name: string): string {
  if (status === 407) {
    return `the proxy wants the right user and password (407): set HTTPS_PROXY to ${name.replace('://', '://user:password@')}`;
  }
  return `the proxy refuses to connect to the program (${status}): have that allowed, or set NO_PROXY`;
}
