// A way to Postgres that can be shut at a chosen message: everything before it has passed, it and what follows wait
// until the gate is opened again, or are lost with the server.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface PostgresGate {
  /** The database's address, through the gate. */
  readonly url: string;
  /** Resolves when the message was held; it is not passed on before `open`. */
  readonly held: Promise<void>;
  open(): void;
  close(): Promise<void>;
}

/** Returns the gate, which holds the clients' message of that number, over all connections. */
export async function startPostgresGate(url: string, number: number): Promise<PostgresGate> {
  const target = new URL(url);
  const held = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  let messages = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    upstream.on('data', (data) => client.write(data));
    client.on('data', async (data) => {
      messages += 1;
      if (messages >= number) {
        held.resolve();
        await opened.promise;
      }
      if (upstream.writable) upstream.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gated = new URL(url);
  gated.hostname = '127.0.0.1';
  gated.port = String((server.address() as AddressInfo).port);
  return {
    url: gated.href,
    held: held.promise,
    open: opened.resolve,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
