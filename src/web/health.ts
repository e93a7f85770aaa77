// Answers an orchestrator over HTTP: is the worker alive, and can it work. Anybody may ask, so answers name the checks
// that failed, and not why.

import { type FastifyInstance, fastify } from 'fastify';
import { z } from 'zod';
import { Busy, ConfigError, describeError, errorCode } from '../errors.ts';
import type { Logger } from '../log.ts';
import { within } from '../queue/within.ts';

/** By name: resolves where all is well, and throws what is wrong. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>;

export interface Health {
  readonly url: string;
  close(): Promise<void>;
}

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 6000;
/** A worker on this machine answers at once; the start must not wait for somebody else's server. */
const OTHER_TIMEOUT_MS = 1000;

/**
 * Returns the server, listening: `/healthz` answers 200 while the process does, `/readyz` 200 where every check
 * passes, and otherwise 503, naming those that do not.
 *
 * Throws: Busy where the port is taken; ConfigError where host or port cannot be used at all.
 */
export async function startHealth(
  { log, checks }: { log: Logger; checks: Checks },
  { host, port }: { host: string; port: number },
): Promise<Health> {
  const server = fastify({ forceCloseConnections: true });
  server.get('/healthz', async () => ({ status: 'alive', process: process.pid }));
  server.get('/readyz', async (_request, reply) => {
    const results = await Promise.all(Object.entries(checks).map((check) => runCheck(log, check)));
    const isReady = results.every(([, result]) => result === 'ok');
    return reply
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'not ready', checks: Object.fromEntries(results) });
  });
  const url = await listen(server, host, port);
  log.info({ url }, 'status.listening');
  return { url, close: () => server.close() };
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

async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EADDRINUSE') {
      throw new Busy(
        `port ${port} of ${host} is taken${await describeOther(host, port)}: set STATUS_PORT to another one, or to 0 for any`,
        { cause: error },
      );
    }
    const problem = UNUSABLE.get(code);
    throw problem === undefined ? error : new ConfigError([problem(host, port)]);
  }
}

// Who listens where we cannot: nothing is said where it does not answer as a worker does.
async function describeOther(host: string, port: number): Promise<string> {
  const name = ANY_ADDRESS.get(host) ?? (host.includes(':') ? `[${host}]` : host);
  try {
    const answer = await fetch(`http://${name}:${port}/healthz`, {
      redirect: 'error',
      signal: AbortSignal.timeout(OTHER_TIMEOUT_MS),
    });
    const worker = aliveSchema.parse(await answer.json());
    return ` by another worker of affiliate-mirror (process ${worker.process})`;
  } catch {
    return '';
  }
}

/** What /healthz answers. */
const aliveSchema = z.object({ status: z.literal('alive'), process: z.int() });

/** Whoever listens on every address is asked at this machine's own. */
const ANY_ADDRESS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

const notKnown = (host: string) =>
  `STATUS_HOST is ${host}, a name that this machine cannot resolve: set it to an address, such as 127.0.0.1`;

const notHere = (host: string) =>
  `STATUS_HOST is ${host}, which is no address of this machine: set it to one, such as 127.0.0.1`;

// What keeps a server from listening, by the system's name for it → what to do about it.
const UNUSABLE: ReadonlyMap<string, (host: string, port: number) => string> = new Map([
  [
    'EACCES',
    (host: string, port: number) =>
      `port ${port} of ${host} may not be listened on by this user: set STATUS_PORT to 1024 or more`,
  ],
  ['EADDRNOTAVAIL', notHere],
  ['ENOTFOUND', notKnown],
  ['EAI_AGAIN', notKnown],
]);
