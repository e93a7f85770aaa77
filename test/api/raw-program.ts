// A program made of a bare socket, for what the sandbox cannot do: it answers every request with raw bytes.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A commission, what a test asks of it, and what the program answers. */
export const ID = '0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e';
export const PAY = { paid_at: '2026-03-01T12:00:00Z' };
export const COMMISSION = JSON.stringify({
  id: ID,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  amount: 1,
  currency: 'USD',
  paid_at: null,
});

export interface RawProgram {
  readonly url: string;
  /** The text of each request received so far. */
  readonly requests: readonly string[];
  /** Resolves when the next request has come in. */
  readonly nextRequest: () => Promise<void>;
}

/**
 * Returns such a program, listening until the test ends; `answer` is called with each whole request and its number,
 * from 1. With `tls` it speaks that, and would speak HTTP/2 if it were asked to.
 */
export async function startRawProgram(
  answer: (socket: Socket, number: number, request: string) => void,
  tls?: TlsOptions,
): Promise<RawProgram> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let arrival = Promise.withResolvers<void>();
  const onConnection = (socket: Socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('close', () => sockets.delete(socket));
    // The client cuts connections off: that is what is tested.
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      received += chunk.toString();
      if (!isWhole(received)) return;
      const request = received;
      received = '';
      requests.push(request);
      arrival.resolve();
      arrival = Promise.withResolvers();
      answer(socket, requests.length, request);
    });
  };
  const server =
    tls === undefined
      ? createServer(onConnection)
      : createTlsServer({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] }, onConnection);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const scheme = tls === undefined ? 'http' : 'https';
  return { url: `${scheme}://127.0.0.1:${port}`, requests, nextRequest: () => arrival.promise };
}

/** Returns an answer's head and body as they are sent. */
export function rawAnswer(
  status: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const all = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n');
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
  return Buffer.byteLength(received.slice(end + 4)) >= length;
}
