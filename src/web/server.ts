// The status page's server: one port for the health checks, which are always open, and for the site behind its door.
// The site, and every library that it needs, is loaded when somebody first asks for it.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describeError } from '../describe-error.ts';
import { isAt } from './base-path.ts';
import { answerHealth, type HealthPath } from './health.ts';
import { listen } from './listen.ts';
import { makeReadReadiness } from './readiness.ts';
import type { Site } from './site.ts';
import type { StatusPage, StatusPageDeps, StatusPageOptions } from './status-page.ts';

/**
 * Returns the server, listening.
 *
 * Throws: Busy where the port is taken; ConfigError where host or port cannot be used at all.
 */
export async function startStatusPage(deps: StatusPageDeps, options: StatusPageOptions): Promise<StatusPage> {
  const { log } = deps;
  const { host, port, basePath } = options;
  const readReadiness = makeReadReadiness(deps);
  let loading: Promise<Site> | null = null;
  const loadSite = (): Promise<Site> => {
    loading ??= import('./site.ts')
      .then(({ makeSite }) => makeSite(deps, options))
      .catch((error: unknown) => {
        // The next request tries again.
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
  // Without a limit to connections: whoever opens that many would keep out what asks whether the worker lives.
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
