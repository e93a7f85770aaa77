// The command `work` as a process of its own, for tests that look at what it says and whether it is ready.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { spawnCli } from './run-cli.ts';

export interface CommandWorker {
  /** What it logged so far. */
  readonly lines: readonly string[];
  /** Of its status page. */
  readonly url: string;
  /** Returns the checks of /readyz. */
  readyz(): Promise<unknown>;
  /** Sends SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>;
}

/** Returns the worker, once it works; a full sync is due every two seconds, unless the environment says otherwise. */
export async function startCommandWorker(
  environment: Readonly<Record<string, string>>,
): Promise<CommandWorker> {
  const own = { SYNC_FULL_CRON: '*/2 * * * * *', SYNC_DELTA_CRON: '', STATUS_PORT: '0' };
  const child = spawnCli(['work'], { ...own, ...environment });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const said = (word: string) => lines.find((line) => line.includes(word));
  const worker: CommandWorker = {
    lines,
    get url() {
      return JSON.parse(said('status.listening') ?? '{}').url;
    },
    async readyz() {
      return JSON.parse(await (await fetch(`${this.url}/readyz`)).text()).checks;
    },
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
  onTestFinished(async () => {
    await worker.stop();
  });
  const failed = ended.then(() => Promise.reject(new Error(`the worker ended: ${lines.join('\n')}`)));
  await Promise.race([expect.poll(() => said('worker.started')).toBeDefined(), failed]);
  return worker;
}
