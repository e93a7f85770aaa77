// Runs the real command `sync` as a process of its own and returns how long it took and what it used.

import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Usage } from './report-usage.ts';
import type { CommandDeps } from './start-command.ts';
import { startMeasured } from './start-measured.ts';

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
  /** Beside what every sync has. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Throws: where the command does not end with exit code 0, with what it said. */
export async function runSync(
  deps: CommandDeps,
  { programUrl, databaseUrl, rateLimit, environment = {} }: SyncTarget,
  ...args: readonly string[]
): Promise<SyncRun> {
  const startedMs = performance.now();
  const { command, readUsage } = startMeasured(deps, ['sync', '--json', ...args], {
    environment: {
      AFFILIATE_API_URL: programUrl,
      AFFILIATE_API_SECRET: 'bench',
      DATABASE_URL: databaseUrl,
      API_RATE_LIMIT: rateLimit,
      LOG_LEVEL: 'warn',
      ...environment,
    },
    output: ['pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => command.once('exit', resolve));
  const [code, stdout, stderr] = await Promise.all([
    ended.then((exitCode) => ({ exitCode, wallMs: performance.now() - startedMs })),
    text(command.stdout as Readable),
    text(command.stderr as Readable),
  ]);
  if (code.exitCode !== 0) throw new Error(`sync ended with code ${code.exitCode}:\n${stdout}${stderr}`);
  return { wallMs: code.wallMs, ...(await readUsage()), runs: JSON.parse(stdout).runs };
}

/** Returns how many requests the sync sent. */
export function requestsOf({ runs }: SyncRun): number {
  return runs.reduce((sum, { requests }) => sum + requests, 0);
}
