// The CPU time of a whole Postgres server: of the process that starts all others, of those that run, and of those that
// have ended. From /proc, so on Linux alone.

import { readdirSync, readFileSync } from 'node:fs';

/** What /proc counts in. Source: proc(5), and USER_HZ, which is 100 on every machine that Node runs on. */
const TICK_MS = 10;

interface Stat {
  readonly parent: number;
  readonly ownMs: number;
  /** Of its children that have ended. */
  readonly endedMs: number;
}

/** Returns the process that started the one; null on another system than Linux. */
export function findParent(pid: number): number | null {
  return process.platform === 'linux' ? (readStat(pid)?.parent ?? null) : null;
}

/** Returns what the process has used since it started, in milliseconds; 0 where it has ended. */
export function readProcessCpuMs(pid: number): number {
  return readStat(pid)?.ownMs ?? 0;
}

/** Returns a line of /proc/PID/status in MB; null where the process has ended. */
export function readMemoryMb(pid: number, line: 'VmHWM' | 'VmRSS' | 'RssAnon'): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [, kilobytes] = new RegExp(`^${line}:\\s*(\\d+) kB$`, 'm').exec(status) ?? [];
    return kilobytes === undefined ? null : (Number(kilobytes) * 1024) / 1_000_000;
  } catch {
    return null;
  }
}

/** Returns what the process and its children have used since they started, in milliseconds. */
export function readServerCpuMs(server: number): number {
  for (;;) {
    const before = readStat(server);
    const children = readdirSync('/proc').flatMap((name) => {
      const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
      return stat?.parent === server ? [stat.ownMs] : [];
    });
    const after = readStat(server);
    if (before === null || after === null) throw new Error(`the server with process ${server} has ended`);
    // A child that ended between the two is counted twice, or not at all.
    if (before.endedMs !== after.endedMs) continue;
    return children.reduce((sum, ms) => sum + ms, after.ownMs + after.endedMs);
  }
}

/** Returns what /proc knows of the process; null where it has ended. */
function readStat(pid: number): Stat | null {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name comes before them, in brackets, and may hold anything.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return {
    parent: Number(fields[1]),
    ownMs: (user + system) * TICK_MS,
    endedMs: (endedUser + endedSystem) * TICK_MS,
  };
}
