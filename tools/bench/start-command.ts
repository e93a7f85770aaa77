// Starts the built program with the flags for Node that package.json starts the source with.

import type { ChildProcess, StdioOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { startChild } from './start-child.ts';

export interface CommandDeps {
  /** Cleans up when the bench ends, however it does. */
  readonly cleanup: AsyncDisposableStack;
  /** The file to start, as buildProgram() returns it. */
  readonly program: string;
}

export interface CommandOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
  /** Besides those of package.json. */
  readonly nodeArguments?: readonly string[];
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [EXECUTABLE, ...ARGUMENTS] = manifest.scripts['affiliate-mirror'].split(' ');
/** Without the source's own file, which is the last. */
const FLAGS = ARGUMENTS.slice(0, -1);

/** Returns the command's process; its environment is the given one alone. */
export function startCommand(
  { cleanup, program }: CommandDeps,
  args: readonly string[],
  { environment, stdio, nodeArguments = [] }: CommandOptions,
): ChildProcess {
  if (EXECUTABLE !== 'node')
    throw new Error(`package.json starts ${EXECUTABLE}, where the bench starts node`);
  return startChild(cleanup, process.execPath, [...nodeArguments, ...FLAGS, program, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...environment },
    stdio,
  });
}
