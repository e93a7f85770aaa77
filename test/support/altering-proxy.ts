// A program that is not quite the sandbox: passes every request on to it, and changes what comes back.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface AlteringProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** An answer's body, and its status where that is another one, too. */
export type Altered = string | { readonly status: number; readonly body: string };

/** Returns the running proxy; `alter` is passed the body of each answer and returns what to answer instead. */
export async function startAlteringProxy(
  target: string,
  alter: (body: string, path: string) => Altered | Promise<Altered>,
): Promise<AlteringProxy> {
  const server = createServer((request, response) => {
    void (async () => {
      const answer = await fetch(`${target}${request.url}`, {
        method: request.method ?? 'GET',
        headers: {
          authorization: request.headers.authorization ?? '',
          'content-type': request.headers['content-type'] ?? '',
        },
        ...(request.method === 'PUT' && { body: await text(request) }),
      });
      const altered = await alter(await answer.text(), request.url ?? '');
      const { status, body } =
        typeof altered === 'string' ? { status: answer.status, body: altered } : altered;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body);
    })();
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await listening;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
