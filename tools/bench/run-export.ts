// Runs `affiliate-mirror export` in a process of its own, and measures that process alone.

import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CommandDeps } from './start-command.ts';
import { startMeasured } from './start-measured.ts';

export interface MeasuredExport {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** The largest resident set. */
  readonly peakMemoryMb: number;
}

/** Returns what it took. Throws: an Error with what the command said, where it did not end well. */
export async function runExport(
  deps: CommandDeps,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<MeasuredExport> {
  const startedMs = performance.now();
  const { command, readUsage } = startMeasured(deps, ['export', ...args], {
    environment,
    output: ['ignore', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(command.stderr as Readable), once(command, 'exit')]);
  const seconds = (performance.now() - startedMs) / 1000;
  if (code !== 0) throw new Error(`export ended with ${code}: ${said}`);
  const { cpuMs, peakMemoryBytes } = await readUsage();
  return { seconds, cpuSeconds: cpuMs / 1000, peakMemoryMb: peakMemoryBytes / 1_000_000 };
}
