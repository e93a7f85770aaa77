// The health checks: is the worker alive, and can it work. Concurrent requests share one round of checks, because they
// need no password and each round takes connections from the work. Answers name the checks that failed, without the
// reason.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError } from '../base/describe-error.ts';
import type { Logger } from '../base/log.ts';
import { memoize } from '../base/memoize.ts';
import { within } from '../base/within.ts';

/** By name; throws if the check fails. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>;

export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 6000;
/** Less than any orchestrator waits between two requests. */
const FRESH_MS = 1000;
/** A check that fails for the same reason as before is logged again after this time. */
const QUIET_MS = 60_000;

/** The result is at most two seconds old. The returned function throws nothing. */
export function makeReadReadiness({
  log,
  checks,
}: {
  log: Logger;
  checks: Checks;
}): () => Promise<Readiness> {
  const runCheck = makeRunCheck(log);
  const runAll = async (): Promise<Readiness> => {
    const results = await Promise.all(Object.entries(checks).map(runCheck));
    return {
      isReady: results.every(([, result]) => result === 'ok'),
      checks: Object.fromEntries(results),
    };
  };
  return memoize(runAll, () => FRESH_MS);
}

// The reason is in the log only: an error may name hosts.
function makeRunCheck(log: Logger) {
  const logged = new Map<string, { readonly reason: string; readonly atMs: number }>();
  return async ([name, check]: [string, () => Promise<unknown>]): Promise<[string, 'ok' | 'failed']> => {
    try {
      await within(CHECK_TIMEOUT_MS, check());
      logged.delete(name);
      return [name, 'ok'];
    } catch (error) {
      const reason = describeError(error);
      const last = logged.get(name);
      const atMs = performance.now();
      if (last?.reason !== reason || atMs - last.atMs >= QUIET_MS) {
        logged.set(name, { reason, atMs });
        log.warn({ check: name, reason }, 'status.not_ready');
      }
      return [name, 'failed'];
    }
  };
}

export type HealthPath = '/healthz' | '/readyz';

/**
 * `/healthz` is 200 while the process answers. `/readyz` is 200 if every check passes; otherwise 503, with the names of
 * the failed ones.
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
