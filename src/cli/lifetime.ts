// The life of one command: what stops it, and what has to be closed when it ends.

import type { ExitCode } from './exit-code.ts';

export interface Lifetime {
  /** Aborts on the first Ctrl-C or SIGTERM; its reason is a Stopped. */
  readonly signal: AbortSignal;
  /** What was opened last is closed first, whatever became of the command. */
  onClose(close: () => Promise<unknown>): void;
}

/** The reason of a lifetime's signal. Not an error of the catalogue: nothing went wrong. */
export class Stopped extends Error {
  readonly exitCode: 130 | 143;

  constructor(signal: StopSignal) {
    super(signal === 'SIGINT' ? 'stopped by Ctrl-C' : 'stopped by SIGTERM');
    this.name = 'Stopped';
    this.exitCode = EXIT_CODES[signal];
  }
}

type StopSignal = 'SIGINT' | 'SIGTERM';

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** npm passes a Ctrl-C on to its child, which has it from the terminal already: one key press, two signals. */
const SAME_KEY_PRESS_MS = 500;

/**
 * Returns the exit code that the work returns, once everything that it opened is closed. The first signal
 * aborts the work; a second one ends the process at once.
 *
 * Throws: what the work throws; else what closing throws.
 */
export async function withLifetime(work: (lifetime: Lifetime) => Promise<ExitCode>): Promise<ExitCode> {
  const controller = new AbortController();
  const closers: (() => Promise<unknown>)[] = [];
  let stoppedAtMs: number | null = null;
  const stop = (signal: StopSignal) => {
    const nowMs = performance.now();
    if (stoppedAtMs === null) {
      stoppedAtMs = nowMs;
      controller.abort(new Stopped(signal));
    } else if (nowMs - stoppedAtMs > SAME_KEY_PRESS_MS) {
      process.exit(EXIT_CODES[signal]);
    }
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    return await closeAfterwards(
      () => work({ signal: controller.signal, onClose: (close) => closers.push(close) }),
      closers,
    );
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

async function closeAfterwards(
  work: () => Promise<ExitCode>,
  closers: (() => Promise<unknown>)[],
): Promise<ExitCode> {
  const errors: unknown[] = [];
  let exitCode: ExitCode = 1;
  try {
    exitCode = await work();
  } catch (error) {
    errors.push(error);
  }
  for (const close of closers.toReversed()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  // What went wrong first explains the rest.
  if (errors.length > 0) throw errors[0];
  return exitCode;
}

/** Resolves when the signal aborts, and keeps the process alive until it does. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A listener for a signal keeps no process alive by itself.
  const alive = setInterval(() => {}, 2 ** 30);
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearInterval(alive);
}
