// Starts the page server's process and tells it what to serve. Knows messages, no pages.

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProgramState } from './invent-program.ts';
import type { Question, ServerReady } from './page-server.ts';
import { startChild } from './start-child.ts';

export interface PageServer {
  readonly url: string;
  readonly bytesPerPage: number;
}

export interface PageServers {
  /** Makes the server serve a state, and resolves once all its pages are built. */
  serve(state: ProgramState): Promise<PageServer>;
  /** Gives back when each request for this state came, in milliseconds from whenever. */
  readArrivals(): Promise<readonly number[]>;
}

const FILE = fileURLToPath(new URL('./page-server.ts', import.meta.url));

/** Gives back the server's process, which serves nothing yet. It goes with the bench. */
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
  return {
    async serve(state) {
      const { port, bytesPerPage } = (await ask(state)) as ServerReady;
      return { url: `http://127.0.0.1:${port}`, bytesPerPage };
    },
    readArrivals: async () => (await ask('arrivals')) as readonly number[],
  };
}
