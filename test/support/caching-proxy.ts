// A cache in front of a program that answers reads from its store, also what it is asked for with no-cache. It says by
// Age how old an answer is.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface CachingProxy {
  readonly url: string;
  /** Answers from the store from now on, as if that had been filled so much earlier. */
  age(seconds: number): void;
  /** Stores an answer to the path (with its query), made now. */
  plant(path: string, status: number, body: string): void;
  /** Throws everything away that is stored, and passes everything on again. */
  clear(): void;
}

interface Stored {
  readonly status: number;
  readonly body: string;
  madeAtMs: number;
}

/** Returns the running proxy, which ends with the test. */
export async function startCachingProxy(target: string): Promise<CachingProxy> {
  const store = new Map<string, Stored>();
  let isServing = false;
  const server = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url = '' } = request;
      const held = isServing && method === 'GET' ? store.get(url) : undefined;
      const answer = held ?? (await pass(method, url));
      if (method === 'GET') store.set(url, answer);
      const ageSeconds = Math.floor((Date.now() - answer.madeAtMs) / 1000);
      response.writeHead(answer.status, {
        'content-type': 'application/json',
        ...(held !== undefined && { age: String(ageSeconds) }),
      });
      response.end(answer.body);

      async function pass(asked: string, path: string): Promise<Stored> {
        const { authorization = '', 'content-type': type = '' } = request.headers;
        const got = await fetch(`${target}${path}`, {
          method: asked,
          headers: { authorization, 'content-type': type },
          ...(asked === 'PUT' && { body: await text(request) }),
        });
        return { status: got.status, body: await got.text(), madeAtMs: Date.now() };
      }
    })();
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await listening;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    age(seconds) {
      isServing = true;
      for (const answer of store.values()) answer.madeAtMs -= seconds * 1000;
    },
    plant: (path, status, body) => void store.set(path, { status, body, madeAtMs: Date.now() }),
    clear() {
      isServing = false;
      store.clear();
    },
  };
}
