// Loaded before the command (node --import): writes, when the process ends, what it used. Changes nothing else.

import { readFileSync, writeSync } from 'node:fs';
import pg from 'pg';

/** What the measured process used; the parent reads it from file descriptor 3. */
export interface Usage {
  /** Postgres statements that it sent, `begin` and `commit` included. */
  readonly statements: number;
  readonly peakMemoryBytes: number;
  readonly cpuMs: number;
}

const USAGE_FD = 3;
let statements = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]) {
  statements += 1;
  return Reflect.apply(query, this, args);
} as typeof query;

process.once('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const usage: Usage = {
    statements,
    peakMemoryBytes: 1024 * (process.platform === 'linux' ? readPeakOfLinux() : maxRSS),
    cpuMs: Math.round((userCPUTime + systemCPUTime) / 1000),
  };
  writeSync(USAGE_FD, JSON.stringify(usage));
});

// In kB, of this process alone: on Linux, maxRSS may be that of the parent, of which the process began as a copy.
function readPeakOfLinux(): number {
  const [, peak] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  if (peak === undefined) throw new Error('/proc/self/status does not state the peak memory (VmHWM)');
  return Number(peak);
}
