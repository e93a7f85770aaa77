// The life of one command: what stops it, and what has to be closed when it ends.

import type { ExitCode } from './exit-code.ts';
import { isUnderNohup, watchNpm } from './starters.ts';

export interface Lifetime {
  /**
   * Aborts on the first Ctrl-C, SIGTERM or SIGHUP, and when npm, which started us, is gone; its reason is a Stopped.
   */
  readonly signal: AbortSignal;
  /**
   * For work that may be cut off anywhere: `cutOff` is called when the signal aborts, and whatever error the work then
   * ends in, its being stopped is what is said.
   */
  onStop(cutOff: () => void): void;
  /** What was opened last is closed first, whatever became of the command. */
  onClose(close: () => Promise<unknown>): void;
}

/** The reason of a lifetime's signal. Not an error of the catalogue: nothing went wrong. */
export class Stopped extends Error {
  readonly exitCode: 130 | 143;
  readonly #cause: StopCause;

  /** `reached` says how far the work came and how it goes on; null where there is nothing to say. */
  constructor(cause: StopCause, reached: string | null = null) {
    super(`stopped ${CAUSES[cause].words}${reached === null ? '' : `: ${reached}`}`);
    this.name = 'Stopped';
    this.exitCode = CAUSES[cause].exitCode;
    this.#cause = cause;
  }

  /** Returns the same, with how far the work came. */
  saying(reached: string): Stopped {
    return new Stopped(this.#cause, reached);
  }
}

/** A terminal that is closed sends SIGHUP. */
const CAUSES = {
  SIGINT: { exitCode: 130, words: 'by Ctrl-C' },
  SIGTERM: { exitCode: 143, words: 'by SIGTERM' },
  SIGHUP: { exitCode: 143, words: 'by SIGHUP' },
  'npm is gone': { exitCode: 143, words: 'since npm, which started it, is gone' },
} as const;

type StopCause = keyof typeof CAUSES;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm passes a Ctrl-C on to its child, which has it from the terminal already: one key press, two signals. */
const SAME_KEY_PRESS_MS = 500;

/**
 * Returns the exit code that the work returns, once everything that it opened is closed. The first signal
 * aborts the work; a second one ends the process at once. The environment tells who started us.
 *
 * Throws: what the work throws; else what closing throws.
 */
export async function withLifetime(
  work: (lifetime: Lifetime) => Promise<ExitCode>,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<ExitCode> {
  const controller = new AbortController();
  const { signal } = controller;
  const closers: (() => Promise<unknown>)[] = [];
  let isCutOff = false;
  let stoppedAtMs: number | null = null;
  const stop = (cause: StopCause) => {
    if (cause === 'SIGHUP' && isUnderNohup(environment)) return;
    const nowMs = performance.now();
    if (stoppedAtMs === null) {
      stoppedAtMs = nowMs;
      controller.abort(new Stopped(cause));
    } else if (nowMs - stoppedAtMs > SAME_KEY_PRESS_MS) {
      process.exit(CAUSES[cause].exitCode);
    }
  };
  for (const name of SIGNALS) process.on(name, stop);
  const endWatch = watchNpm(environment, () => stop('npm is gone'));
  try {
    const lifetime: Lifetime = {
      signal,
      onStop: (cutOff) => {
        const onAbort = () => {
          isCutOff = true;
          cutOff();
        };
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
      },
      onClose: (close) => closers.push(close),
    };
    return await closeAfterwards(async () => {
      try {
        return await work(lifetime);
      } catch (error) {
        throw isCutOff && !(error instanceof Stopped) ? signal.reason : error;
      }
    }, closers);
  } finally {
    for (const name of SIGNALS) process.off(name, stop);
    endWatch();
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
