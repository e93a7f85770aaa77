// Streams that say they are a terminal of some width, and keep what is written to them.

import { onTestFinished } from 'vitest';
import { useTerminal } from '../../src/base/terminal.ts';

export interface FakeTerminal {
  readonly stdout: string[];
  readonly stderr: string[];
}

const CAPABLE = { TERM: 'xterm' };

// The test's own streams, which do everything.
/** Has everything written to a terminal of that many columns; without bound to a pipe. Returns what is written. */
export function fakeTerminal(
  columns: number,
  environment: Readonly<Record<string, string>> = CAPABLE,
  hasColors = false,
): FakeTerminal {
  const written: FakeTerminal = { stdout: [], stderr: [] };
  const streamOf = (lines: string[]) => ({
    ...(Number.isFinite(columns) && { isTTY: true, columns }),
    hasColors: () => hasColors,
    write: (text: string) => lines.push(text),
  });
  onTestFinished(() => useTerminal(CAPABLE));
  useTerminal(environment, { stdout: streamOf(written.stdout), stderr: streamOf(written.stderr) });
  return written;
}
