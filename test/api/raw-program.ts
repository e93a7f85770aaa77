// A program made of a bare socket, for what the sandbox cannot do: it answers every request with raw bytes.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RawProgram {
  readonly url: string;
  /** The text of each request received so far. */
  readonly requests: readonly string[];
  /** Resolves when the next request has come in. */
  readonly nextRequest: () => Promise<void>;
}

/**
 * Returns such a program, listening until the test ends; `answer` is called with each whole request and its number, from 1.
 */
export async function startRawProgram(
  answer: (socket: Socket, number: number, request: string) => void,
): Promise<RawProgram> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let arrival = Promise.withResolvers<void>();
  const server = createServer((socket) => {
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
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, nextRequest: () => arrival.promise };
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
