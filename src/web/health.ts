// Answers an orchestrator: is the worker alive, and can it work. Anybody may ask, so answers name the checks that
// failed, and not why.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readiness } from './readiness.ts';

export type HealthPath = '/healthz' | '/readyz';

/**
 * Answers: `/healthz` 200 while the process does, `/readyz` 200 where every check passes, and otherwise 503, naming
 * those that do not.
 */
export async function answerHealth(
  readReadiness: () => Promise<Readiness>,
  path: HealthPath,
  { method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return send(response, 405, { status: 'only GET and HEAD are answered' });
  }
  if (path === '/healthz') return send(response, 200, { status: 'alive', process: process.pid });
  const { isReady, checks } = await readReadiness();
  return send(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(JSON.stringify(body));
}
