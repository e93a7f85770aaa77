// Has a server listen where the configuration says, or says what keeps it from that and how to fix it.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { errorCode } from '../describe-error.ts';
import { Busy, ConfigError } from '../errors.ts';

/** A worker on this machine answers at once; the start must not wait for somebody else's server. */
const OTHER_TIMEOUT_MS = 1000;

/**
 * Returns the address that the server listens on.
 *
 * Throws: Busy where the port is taken; ConfigError where host or port cannot be used at all.
 */
export async function listen(server: Server, host: string, port: number): Promise<string> {
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
      throw new Busy(
        `port ${port} of ${host} is taken${await describeOther(host, port)}: set STATUS_PORT to another one, or to 0 for any`,
        { cause: error },
      );
    }
    const problem = UNUSABLE.get(code);
    throw problem === undefined ? error : new ConfigError([problem(host, port)]);
  }
  return `http://${nameOf(host)}:${(server.address() as AddressInfo).port}`;
}

// Who listens where we cannot: nothing is said where it does not answer as a worker does.
async function describeOther(host: string, port: number): Promise<string> {
  try {
    const answer = await fetch(`http://${nameOf(host)}:${port}/healthz`, {
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

/** Whoever listens on every address is reached at this machine's own. */
const ANY_ADDRESS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

function nameOf(host: string): string {
  return ANY_ADDRESS.get(host) ?? (host.includes(':') ? `[${host}]` : host);
}

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
