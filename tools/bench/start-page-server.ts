// Starts the page server's process and sends it what to serve.

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProgramState } from './invent-program.ts';
import type { Arrivals, Question, ServerReady } from './page-server.ts';
import { startChild } from './start-child.ts';

export interface PageServer {
  readonly url: string;
  readonly bytesPerPage: number;
}

export interface PageServers {
  /** Makes the server serve a state, and resolves once all its pages are built. */
  serve(state: ProgramState): Promise<PageServer>;
  /** Returns when each request for this state came, in milliseconds since some moment that is the same for all. */
  readArrivals(): Promise<readonly number[]>;
  /** Of each program that has a path of its own. */
  readArrivalsOfEach(): Promise<readonly (readonly number[])[]>;
}

const FILE = fileURLToPath(new URL('./page-server.ts', import.meta.url));

/** Returns the server's process, which serves nothing yet. It ends with the bench. */
export function startPageServer(cleanup: AsyncDisposableStack): PageServers {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const child = startChild(cleanup, process.execPath, [FILE], { stdio: [...stdio] });
  const ended = once(child, 'exit');
  const ask = async (question: Question): Promise<unknown> => {
    const answered = once(child, 'message');
    child.send(question);
    const [answer] = await Promise.race([
      answered,
      ended.then(([code]) => {
        throw new Error(`the page server ended with code ${code}`);
      }),
    ]);
    return answer;
  };
  const readArrivals = async () => (await ask('arrivals')) as Arrivals;
  return {
    async serve(state) {
      const { port, bytesPerPage } = (await ask(state)) as ServerReady;
      return { url: `http://127.0.0.1:${port}`, bytesPerPage };
    },
    readArrivals: async () => (await readArrivals())[''] ?? [],
    readArrivalsOfEach: async () =>
      Object.entries(await readArrivals()).flatMap(([path, arrivals]) => (path === '' ? [] : [arrivals])),
  };
}
