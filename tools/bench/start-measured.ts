// Starts a command that says, when it ends, what it used.

import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Usage } from './report-usage.ts';
import { type CommandDeps, startCommand } from './start-command.ts';

export interface MeasuredCommand {
  readonly command: ChildProcess;
  /**
   * Resolves once the command has ended.
   *
   * Throws: Error where it sent no statement: then those that it sent were not counted.
   */
  readUsage(): Promise<Usage>;
}

const REPORT_USAGE = new URL('./report-usage.ts', import.meta.url).href;

/** Returns the command's process, and what it used; its environment is the given one alone. */
export function startMeasured(
  deps: CommandDeps,
  args: readonly string[],
  {
    environment,
    output,
  }: { environment: Readonly<Record<string, string>>; output: readonly ('ignore' | 'inherit' | 'pipe')[] },
): MeasuredCommand {
  const command = startCommand(deps, args, {
    environment,
    stdio: ['ignore', ...output, 'pipe'],
    nodeArguments: ['--import', REPORT_USAGE],
  });
  const written = text(command.stdio[3] as Readable);
  return {
    command,
    async readUsage() {
      const usage = JSON.parse(await written) as Usage;
      if (usage.statements === 0) {
        throw new Error('no statement was counted: the program has another pg than report-usage.ts');
      }
      return usage;
    },
  };
}
