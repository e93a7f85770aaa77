// Runs the real command line as a user would, with nothing in its environment but what is given. Starting Node takes
// longer than most commands do, so `runCli` keeps one process for all of them; a test of the process
// itself (signals, several at once, whether it ends at all) uses `runCliAlone` or `spawnCli`.

import {
  type ChildProcess,
  type ChildProcessByStdio,
  fork,
  type StdioOptions,
  spawn,
} from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { type CommandLine, END_OF_OUTPUT } from './command-line.ts';

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const KEPT = fileURLToPath(new URL('cli-process.ts', import.meta.url));
// Postgres' executables need the system's PATH; nothing of the developer's own settings may leak in.
const PATH = { PATH: process.env['PATH'] };
const COMPILE_CACHE = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

let kept: ChildProcess | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Returns what the command printed and its exit code. Commands run one after the other. */
export function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CliRun> {
  const run = last.then(() => runKept({ args, environment }));
  last = run.catch(() => undefined);
  return run;
}

async function runKept(command: CommandLine): Promise<CliRun> {
  kept ??= fork(KEPT, { env: { ...PATH, ...COMPILE_CACHE }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const { stdout, stderr } = kept;
  if (stdout === null || stderr === null) throw new Error('the process has no output');
  const over = new AbortController();
  const died = once(kept, 'close', { signal: over.signal }).then(() => {
    throw new Error(`the process that runs the commands ended during ${command.args.join(' ')}`);
  });
  const printed = Promise.all([readToMark(stdout), readToMark(stderr), once(kept, 'message')]);
  kept.send(command);
  try {
    const [out, err, [code]] = await Promise.race([printed, died]);
    return { code, stdout: out, stderr: err };
  } finally {
    over.abort();
    died.catch(() => undefined);
  }
}

function readToMark(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const read = (chunk: Buffer) => {
      chunks.push(chunk);
      const all = Buffer.concat(chunks).toString();
      if (!all.endsWith(END_OF_OUTPUT)) return;
      stream.off('data', read);
      resolve(all.slice(0, -END_OF_OUTPUT.length));
    };
    stream.on('data', read);
  });
}

/** Returns the same, of a process of the command's own that has ended. */
export async function runCliAlone(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CliRun> {
  const child = spawnCli(args, environment);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Returns the process of the built program, for those who talk to it while it runs; its output is piped. */
export function spawnCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcessByStdio<null, Readable, Readable>;
/** Returns the same with other outputs, such as files. */
export function spawnCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  stdio: StdioOptions,
): ChildProcess;
export function spawnCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  stdio: StdioOptions = ['ignore', 'pipe', 'pipe'],
): ChildProcess {
  return spawn(process.execPath, [inject('builtProgram'), ...args], {
    env: { ...PATH, ...environment },
    stdio,
  });
}
