// Runs `affiliate-mirror export` in a process of its own, and measures that process alone.

import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Usage } from './report-usage.ts';
import { startCommand } from './start-command.ts';

export interface MeasuredExport {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** The largest resident set. */
  readonly peakMemoryMb: number;
}

const REPORT_USAGE = new URL('./report-usage.ts', import.meta.url).href;

/** Returns what it took. Throws: an Error with what the command said, where it did not end well. */
export async function runExport(
  cleanup: AsyncDisposableStack,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<MeasuredExport> {
  const startedMs = performance.now();
  const command = startCommand(cleanup, ['export', ...args], {
    environment,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    nodeArguments: ['--import', REPORT_USAGE],
  });
  const [, , stderr, usage] = command.stdio as unknown as Readable[];
  const ended = once(command, 'exit');
  const [said, used] = await Promise.all([text(stderr as Readable), text(usage as Readable)]);
  const [code] = await ended;
  const seconds = (performance.now() - startedMs) / 1000;
  if (code !== 0) throw new Error(`export ended with ${code}: ${said}`);
  const { cpuMs, peakMemoryBytes } = JSON.parse(used) as Usage;
  return { seconds, cpuSeconds: cpuMs / 1000, peakMemoryMb: peakMemoryBytes / 2 ** 20 };
}
