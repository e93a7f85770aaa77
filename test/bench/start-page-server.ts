// Starts the page server's process and tells it what to serve. Knows messages, no pages.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProgramState } from './invent-program.ts';
import type { ServerReady } from './page-server.ts';

export interface PageServer {
  readonly url: string;
  readonly bytesPerPage: number;
}

export interface PageServers {
  /** Makes the server serve a state, and resolves once all its pages are built. */
  serve(state: ProgramState): Promise<PageServer>;
  stop(): Promise<void>;
}

/** Gives back the server's process, which serves nothing yet. */
export function startPageServer(): PageServers {
  const child = fork(fileURLToPath(new URL('./page-server.ts', import.meta.url)));
  const ended = once(child, 'exit');
  return {
    async serve(state) {
      const answered = once(child, 'message');
      child.send(state);
      const ready = await Promise.race([
        answered,
        ended.then(([code]) => {
          throw new Error(`the page server ended with code ${code}`);
        }),
      ]);
      const { port, bytesPerPage } = ready[0] as ServerReady;
      return { url: `http://127.0.0.1:${port}`, bytesPerPage };
    },
    async stop() {
      if (child.exitCode === null) child.disconnect();
      await ended;
    },
  };
}
