// A worker of many programs, as its log shows what it does.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { BenchDeps } from './measure-round.ts';
import { endChild } from './start-child.ts';
import { startCommand } from './start-command.ts';

export interface FleetWorker {
  readonly pid: number;
  /** The address of its page. */
  readonly page: Promise<string>;
  /** Resolves once so many programs are served. Throws: as `untilSynced`. */
  untilServed(programs: number): Promise<void>;
  /** Resolves once so many programs were read whole. Throws: an Error if one was not, or the worker ends. */
  untilSynced(programs: number): Promise<void>;
  stop(): Promise<void>;
}

interface Logged {
  readonly msg?: string;
  readonly url?: string;
  readonly program?: string;
  readonly resource?: string;
  readonly state?: string;
}

/** As in the image (Dockerfile). */
const MALLOC = { MALLOC_MMAP_THRESHOLD_: '65536' };

export function startFleetWorker(
  deps: BenchDeps,
  environment: Readonly<Record<string, string>>,
): FleetWorker {
  const child = startCommand(deps, ['work'], {
    environment: { STATUS_PORT: '0', LOG_LEVEL: 'info', ...MALLOC, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const served = new Set<string>();
  const synced = new Set<string>();
  const { promise: page, resolve: foundPage } = Promise.withResolvers<string>();
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  // Only those who wait hear of it.
  failed.catch(() => undefined);
  const waiting = new Set<() => void>();
  const read = ({ msg, url, program, resource, state, ...others }: Logged) => {
    if (msg === 'status.listening' && url !== undefined) foundPage(url);
    if (program === undefined) return;
    if (msg === 'program.served') served.add(program);
    else if (msg === 'sync.finished' && resource === 'referrals') {
      if (state === 'succeeded') synced.add(program);
      else fail(new Error(`the sync of ${program} ended as ${state}`));
    } else if (msg === 'program.paused' || msg === 'job.failed_for_now') {
      fail(new Error(`${program}: ${msg} ${JSON.stringify(others)}`));
    } else return;
    for (const look of waiting) look();
  };
  const until = async (isSo: () => boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => isSo() && resolve();
    waiting.add(look);
    look();
    await Promise.race([promise, failed]).finally(() => waiting.delete(look));
  };
  const last: string[] = [];
  createInterface(child.stderr as Readable).on('line', (line) => {
    last.push(line);
    if (last.length > 5) last.shift();
    if (line.startsWith('{')) read(JSON.parse(line) as Logged);
  });
  once(child, 'exit').then(([code]) => {
    fail(new Error(`the worker ended with code ${code}: ${last.join('\n')}`));
  }, fail);
  return {
    pid: pidOf(child),
    page: Promise.race([page, failed]),
    untilServed: (programs) => until(() => served.size >= programs),
    untilSynced: (programs) => until(() => synced.size >= programs),
    stop: () => endChild(child, 'SIGTERM'),
  };
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the worker did not start');
  return pid;
}
