// Answers an orchestrator: is the worker alive, and can it work. Anybody may ask, so answers name the checks that
// failed, and not why.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { within } from '../within.ts';

/** By name: resolves where all is well, and throws what is wrong. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>;

export type HealthPath = '/healthz' | '/readyz';

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 6000;

/**
 * Answers: `/healthz` 200 while the process does, `/readyz` 200 where every check passes, and otherwise 503, naming
 * those that do not.
 */
export async function answerHealth(
  { log, checks }: { log: Logger; checks: Checks },
  path: HealthPath,
  { method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return send(response, 405, { status: 'only GET and HEAD are answered' });
  }
  if (path === '/healthz') return send(response, 200, { status: 'alive', process: process.pid });
  const results = await Promise.all(Object.entries(checks).map((check) => runCheck(log, check)));
  const isReady = results.every(([, result]) => result === 'ok');
  const status = isReady ? 'ready' : 'not ready';
  return send(response, isReady ? 200 : 503, { status, checks: Object.fromEntries(results) });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(JSON.stringify(body));
}

// The reason is in the log only: an error may name hosts.
async function runCheck(
  log: Logger,
  [name, check]: [string, () => Promise<unknown>],
): Promise<[string, 'ok' | 'failed']> {
  try {
    await within(CHECK_TIMEOUT_MS, check());
    return [name, 'ok'];
  } catch (error) {
    log.warn({ check: name, reason: describeError(error) }, 'status.not_ready');
    return [name, 'failed'];
  }
}
