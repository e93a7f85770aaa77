// Starts embedded-process.ts, a second user of an embedded Postgres, and gives the test a handle on it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The script that such a user runs. */
export const EMBEDDED_PROCESS = fileURLToPath(new URL('embedded-process.ts', import.meta.url));

const openedSchema = z.object({ url: z.string(), port: z.number(), isOwner: z.boolean() });
const failedSchema = z.object({ failed: z.string() });

export interface EmbeddedUser {
  readonly url: string;
  readonly port: number;
  readonly isOwner: boolean;
  readonly child: ChildProcess;
  /** Returns the exit code and signal after sending the signal, to the whole process group where asked. */
  end(signal: NodeJS.Signals, options?: { group: boolean }): Promise<{ code: number | null; said: unknown }>;
}

export interface UserOptions {
  readonly env?: Record<string, string>;
  /** Node and script to run in place of ours, for a user who cannot read our checkout. */
  readonly node?: string;
  readonly script?: string;
  readonly uid?: number;
  readonly gid?: number;
}

const running = new Set<ChildProcess>();

/** Kills what a failed test left running. */
export async function killEmbeddedUsers(): Promise<void> {
  const closed = [...running].map((child) => once(child, 'close'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(closed);
}

/** Returns a process that has opened the embedded Postgres. Throws: Error with what it said where it could not. */
export async function startEmbeddedUser(dataDir: string, options: UserOptions = {}): Promise<EmbeddedUser> {
  const { env = {}, node = process.execPath, script = EMBEDDED_PROCESS, ...account } = options;
  const child = spawn(node, [script, dataDir], {
    cwd: '/',
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    ...account,
  });
  const closed = once(child, 'close');
  running.add(child);
  child.once('close', () => running.delete(child));
  await once(child, 'spawn');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    return done ? null : JSON.parse(value);
  };
  const first = await nextLine();
  const opened = openedSchema.safeParse(first);
  if (!opened.success) throw new Error(failedSchema.parse(first).failed);
  return {
    ...opened.data,
    child,
    async end(signal, { group } = { group: false }) {
      process.kill(group ? -Number(child.pid) : Number(child.pid), signal);
      const said = await nextLine();
      const [code] = await closed;
      return { code, said };
    },
  };
}
