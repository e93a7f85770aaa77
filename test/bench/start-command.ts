// Starts the real command just as `npm run affiliate-mirror` does, with the flags for Node that are in package.json.

import type { ChildProcess, StdioOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { startChild } from './start-child.ts';

export interface CommandOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
  /** Besides those of package.json. */
  readonly nodeArguments?: readonly string[];
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [EXECUTABLE, ...ARGUMENTS] = manifest.scripts['affiliate-mirror'].split(' ');

/** Returns the command's process; its environment is the given one alone. */
export function startCommand(
  cleanup: AsyncDisposableStack,
  args: readonly string[],
  { environment, stdio, nodeArguments = [] }: CommandOptions,
): ChildProcess {
  if (EXECUTABLE !== 'node')
    throw new Error(`package.json starts ${EXECUTABLE}, where the bench starts node`);
  return startChild(cleanup, process.execPath, [...nodeArguments, ...ARGUMENTS, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...environment },
    stdio,
  });
}
