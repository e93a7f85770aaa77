// The status page's server: one port for the health checks, which are always open, and for the site. The site and its
// libraries are loaded with the first request for it.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError, errorCode } from '../base/describe-error.ts';
import { Busy, ConfigError } from '../base/errors.ts';
import { isAt } from './base-path.ts';
import { answerHealth, type HealthPath, makeReadReadiness } from './health.ts';
import type { Site } from './site.ts';
import type { StatusPage, StatusPageDeps, StatusPageOptions } from './status-page.ts';

/** Throws: Busy if the port is taken; ConfigError if host or port cannot be used at all. */
export async function startStatusPage(deps: StatusPageDeps, options: StatusPageOptions): Promise<StatusPage> {
  const { log } = deps;
  const { host, port, basePath } = options;
  const readReadiness = makeReadReadiness(deps);
  let loading: Promise<Site> | null = null;
  const loadSite = (): Promise<Site> => {
    loading ??= import('./site.ts')
      .then(({ makeSite }) => makeSite(deps, options))
      .catch((error: unknown) => {
        // The next request retries.
        loading = null;
        throw error;
      });
    return loading;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const health = HEALTH_PATHS.find((path) => isAt(basePath, request.url ?? '', path));
    if (health !== undefined) return answerHealth(readReadiness, health, request, response);
    (await loadSite()).answer(request, response);
  };
  // No limit of connections: a client that reaches it would keep out the health checks.
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        log.error({ reason: describeError(error) }, 'status.not_loaded');
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
        response.end('the status page cannot be shown: the reason is in the log of the worker\n');
      });
    },
  );
  const url = `${await listen(server, host, port)}${basePath}`;
  // Without a listener, one connection that the system refuses to open would end the worker.
  server.on('error', (error) => log.warn({ reason: describeError(error) }, 'status.not_accepted'));
  log.info({ url }, 'status.listening');
  return {
    url,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      const site = await loading?.catch(() => null);
      await site?.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** No request has a body, and its head is one packet. */
const REQUEST_MS = 10_000;

const HEALTH_PATHS: readonly HealthPath[] = ['/healthz', '/readyz'];

/** Returns the address that the server listens on. Throws as startStatusPage. */
async function listen(server: Server, host: string, port: number): Promise<string> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EADDRINUSE') {
      throw new Busy(`port ${port} of ${host} is taken: set STATUS_PORT to another one, or to 0 for any`, {
        cause: error,
      });
    }
    throw new ConfigError([
      `nothing can listen on port ${port} of ${host} (${code}): set STATUS_HOST to an address of this machine, such as 127.0.0.1, and STATUS_PORT to 1024 or more`,
    ]);
  }
  return `http://${nameOf(host)}:${(server.address() as AddressInfo).port}`;
}

/** The address to show for a server that listens on every address. */
const ANY_ADDRESS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

function nameOf(host: string): string {
  return ANY_ADDRESS.get(host) ?? (host.includes(':') ? `[${host}]` : host);
}
