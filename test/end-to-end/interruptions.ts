// Starts processes that kill or stop themselves at a point of their work, and lets those that are stopped go on.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { isFrozen } from '../support/freeze-self.ts';
import type { Interruption } from '../support/interrupt-self.ts';
import type { WorkingOptions } from './working-process.ts';

const SCRIPT = fileURLToPath(new URL('working-process.ts', import.meta.url));

export const SIGNALS = ['SIGKILL', 'SIGSTOP'] as const satisfies readonly Interruption['signal'][];

export interface Working {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Resolves with whether it was killed or stopped; false if it ended before. */
  interrupted(): Promise<boolean>;
  /** Lets a stopped one go on. */
  resume(): void;
}

/** Returns the process, which is killed when the test ends. */
export function startWorking(options: WorkingOptions): Working {
  const child = fork(SCRIPT, [JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', options.work.kind === 'worker' ? 'ignore' : 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let hasEnded = false;
  const ended = once(child, 'exit').then(([code, signal]) => {
    hasEnded = true;
    return { code, signal };
  });
  return {
    child,
    ended,
    async interrupted() {
      await expect
        .poll(async () => hasEnded || (await isFrozen(child.pid ?? 0)), { interval: 10 })
        .toBe(true);
      return !hasEnded || (await ended).signal === 'SIGKILL';
    },
    resume: () => void child.kill('SIGCONT'),
  };
}

/** Numbers of points, so far apart, from a random one: the points that a few runs do not meet, others do. */
export function* someOfAll(step: number): Generator<number> {
  for (let point = 1 + Math.floor(Math.random() * step); ; point += step) yield point;
}
