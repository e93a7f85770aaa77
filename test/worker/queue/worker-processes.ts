// Starts worker processes for a test, reads what they log, and stops them when it ends.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import type { WorkerProcessOptions } from './worker-process.ts';

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg: string };

export interface WorkerProcess {
  readonly pid: number;
  readonly log: readonly LogLine[];
  said(message: string): LogLine[];
  /** Resolves once it has logged the message so many times. */
  says(message: string, times?: number): Promise<void>;
  /** Sends the signal, and returns how it ended. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  send(signal: NodeJS.Signals): void;
  measure(): Promise<{ heapUsed: number; resources: number }>;
}

const SCRIPT = fileURLToPath(new URL('worker-process.ts', import.meta.url));
const WRONG_CLOCK = new URL('../../support/wrong-clock.ts', import.meta.url).href;
const ERROR_LEVEL = 50;

export interface StartOptions {
  /** Left out, its start is waited for. */
  readonly isReady?: boolean;
  /** So many milliseconds its clock jumps ahead when it is sent SIGUSR2. */
  readonly clockJumpsBy?: number;
}

/** Returns the process, once it works; `isReady: false` does not wait for that. */
export async function startWorkerProcess(
  options: WorkerProcessOptions,
  { isReady = true, clockJumpsBy }: StartOptions = {},
): Promise<WorkerProcess> {
  const child = fork(SCRIPT, [JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ['--expose-gc', ...(clockJumpsBy === undefined ? [] : ['--import', WRONG_CLOCK])],
    env: { ...process.env, CLOCK_AHEAD_MS: String(clockJumpsBy), CLOCK_JUMPS: '1' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const log: LogLine[] = [];
  // Not 'exit': what it logged last is read by then.
  const ended = once(child, 'close');
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  if (child.stderr === null || child.pid === undefined) throw new Error('the worker process did not start');
  createInterface({ input: child.stderr }).on('line', (line) => log.push(readLine(line)));
  const said = (message: string) => log.filter(({ msg }) => msg === message);
  const worker: WorkerProcess = {
    pid: child.pid,
    log,
    said,
    async says(message, times = 1) {
      const isSaid = () => said(message).length >= times;
      // What it said last tells why it has not said this.
      await expect.poll(() => (isSaid() || hasEnded ? null : log.slice(-5)), { message }).toBe(null);
      if (!isSaid()) throw new Error(`it ended without ${message}; last: ${JSON.stringify(log.slice(-40))}`);
    },
    async end(signal) {
      child.kill(signal);
      const [code, by] = await ended;
      return { code, signal: by };
    },
    send: (signal) => void child.kill(signal),
    async measure() {
      child.send('measure');
      const [answer] = await once(child, 'message');
      return answer;
    },
  };
  if (isReady) await worker.says('worker.started');
  return worker;
}

// A line that is not of the log is an error that ended the process.
function readLine(line: string): LogLine {
  try {
    return JSON.parse(line);
  } catch {
    return { level: ERROR_LEVEL, msg: line };
  }
}
