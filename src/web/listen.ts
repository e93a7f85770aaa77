// Has a server listen where the configuration says, or says what keeps it from that and how to fix it.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorCode } from '../describe-error.ts';
import { Busy, ConfigError } from '../errors.ts';

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

/** Whoever listens on every address is reached at this machine's own. */
const ANY_ADDRESS: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

function nameOf(host: string): string {
  return ANY_ADDRESS.get(host) ?? (host.includes(':') ? `[${host}]` : host);
}
