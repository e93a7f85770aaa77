// Runs the real command `sync` as a process of its own and returns how long it took and what it used.

import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Usage } from './report-usage.ts';
import { startCommand } from './start-command.ts';

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
  /** Flags for Node, besides those that every command is started with. */
  readonly nodeArguments?: readonly string[];
  /** Beside what every sync has. */
  readonly environment?: Readonly<Record<string, string>>;
}

const REPORT_USAGE = new URL('./report-usage.ts', import.meta.url).href;

/** Throws: where the command does not end with exit code 0, with what it said. */
export async function runSync(
  { cleanup }: { cleanup: AsyncDisposableStack },
  { programUrl, databaseUrl, rateLimit, nodeArguments = [], environment = {} }: SyncTarget,
  ...args: readonly string[]
): Promise<SyncRun> {
  const startedMs = performance.now();
  const child = startCommand(cleanup, ['sync', '--json', ...args], {
    environment: {
      AFFILIATE_API_URL: programUrl,
      AFFILIATE_API_SECRET: 'bench',
      DATABASE_URL: databaseUrl,
      API_RATE_LIMIT: rateLimit,
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    nodeArguments: [...nodeArguments, '--import', REPORT_USAGE],
  });
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
