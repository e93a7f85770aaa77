// A proxy that makes tunnels (CONNECT), as companies have them, with its faults on demand. It ends with the test.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ConnectProxy {
  readonly url: string;
  /** What it was asked to connect to. */
  readonly asked: readonly string[];
  /** Everything that came out of the tunnels' near ends. */
  readonly seen: () => string;
  /** Breaks every tunnel. */
  cut(): void;
}

/** What becomes of a CONNECT. */
export type TunnelFault = 'refuse' | 'drop' | 'hang';

export interface ProxyOptions {
  readonly fault?: TunnelFault;
  /** `user:password`; others are answered 407. */
  readonly login?: string;
}

/** Returns the proxy, listening. */
export async function startConnectProxy({ fault, login }: ProxyOptions = {}): Promise<ConnectProxy> {
  const asked: string[] = [];
  const seen: Buffer[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  };
  const expected = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const server = createServer();
  server.on('connection', keep);
  server.on('connect', (request, near: Socket, head: Buffer) => {
    asked.push(request.url ?? '');
    if (request.headers['proxy-authorization'] !== expected) {
      near.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n');
      return;
    }
    if (fault === 'hang') return;
    if (fault === 'drop') return void near.destroy();
    if (fault === 'refuse') return void near.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
    const { hostname, port } = new URL(`http://${request.url}`);
    // No name is looked up: every host is this machine.
    const far = connect(Number(port), hostname.endsWith('.test') ? '127.0.0.1' : hostname, () => {
      near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      far.write(head);
      near.on('data', (chunk: Buffer) => seen.push(chunk));
      near.pipe(far);
      far.pipe(near);
    });
    keep(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    seen: () => Buffer.concat(seen).toString('latin1'),
    cut,
  };
}
