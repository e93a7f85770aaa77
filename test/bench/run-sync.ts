// Runs the real command `sync` as a process of its own and gives back how long it took and what it used.

import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Usage } from './report-usage.ts';

export interface SyncRun extends Usage {
  /** From starting the process to its end: Node's own start, the checks and the connections included. */
  readonly wallMs: number;
  /** As the command itself reports each resource's run. */
  readonly runs: readonly ReportedRun[];
}

export interface ReportedRun {
  readonly resource: string;
  readonly state: string;
  readonly requests: number;
  readonly duration_ms: number;
  readonly rows_inserted: number;
  readonly rows_updated: number;
}

export interface SyncTarget {
  readonly programUrl: string;
  readonly databaseUrl: string;
  /** As in API_RATE_LIMIT. */
  readonly rateLimit: string;
  readonly nodeArguments?: readonly string[];
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const REPORT_USAGE = new URL('./report-usage.ts', import.meta.url).href;

/** Throws: where the command does not end with exit code 0, with what it said. */
export async function runSync(target: SyncTarget, ...args: readonly string[]): Promise<SyncRun> {
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [...(target.nodeArguments ?? []), '--import', REPORT_USAGE, MAIN, 'sync', '--json', ...args],
    {
      env: {
        PATH: process.env['PATH'],
        AFFILIATE_API_URL: target.programUrl,
        AFFILIATE_API_SECRET: 'bench',
        DATABASE_URL: target.databaseUrl,
        API_RATE_LIMIT: target.rateLimit,
        LOG_LEVEL: "warn", ...(process.env.API_CONCURRENCY ? { API_CONCURRENCY: process.env.API_CONCURRENCY } : {}),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    },
  );
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [, stdoutPipe, stderrPipe, usagePipe] = child.stdio as readonly (Readable | null)[];
  const read = (pipe: Readable | null | undefined) => (pipe ? text(pipe) : Promise.resolve(''));
  const [code, stdout, stderr, usage] = await Promise.all([
    ended.then((exitCode) => ({ exitCode, wallMs: performance.now() - startedMs })),
    read(stdoutPipe),
    read(stderrPipe),
    read(usagePipe),
  ]);
  if (code.exitCode !== 0) throw new Error(`sync ended with code ${code.exitCode}:\n${stdout}${stderr}`);
  return { wallMs: code.wallMs, ...(JSON.parse(usage) as Usage), runs: JSON.parse(stdout).runs };
}
