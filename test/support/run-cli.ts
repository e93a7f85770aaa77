// Runs the real command line in a process of its own, as a user would, with nothing in its environment but what is given.

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Gives back what the command printed and its exit code. */
export async function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CliRun> {
  const child = spawnCli(args, environment);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Gives back the command's process, for those who talk to it while it runs. */
export function spawnCli(args: readonly string[], environment: Readonly<Record<string, string>>) {
  // Postgres' programs need the system's PATH; nothing of the developer's own settings may leak in.
  return spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
