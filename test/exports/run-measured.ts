// Runs a command in a process of its own, and measures that process alone: its time, its CPU time, its largest memory.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** The largest resident set. */
  readonly memoryMb: number;
}

const REPORTER = fileURLToPath(new URL('../bench/report-usage.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
