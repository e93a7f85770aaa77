// The life of one command: the signals that stop it, and the closing of everything that it opened.

import type { ExitCode } from './exit-code.ts';

export interface Lifetime {
  /** Aborts on the first Ctrl-C, SIGTERM or SIGHUP. Its reason is a Stopped. */
  readonly signal: AbortSignal;
  /**
   * For work that may be cut off anywhere: calls `cutOff` when the signal aborts. Any error of the work after that is
   * reported as the stop.
   */
  onStop(cutOff: () => void): void;
  /** Called when the command ends, also after an error; the last one first. */
  onClose(close: () => Promise<unknown>): void;
}

/** The reason of a lifetime's signal. Not an error of the catalogue, as a stop is no failure. */
export class Stopped extends Error {
  readonly exitCode: 130 | 143;
  readonly #cause: StopCause;

  /** `reached`: how far the work came and how it goes on. */
  constructor(cause: StopCause, reached: string | null = null) {
    super(`stopped ${CAUSES[cause].words}${reached === null ? '' : `: ${reached}`}`);
    this.name = 'Stopped';
    this.exitCode = CAUSES[cause].exitCode;
    this.#cause = cause;
  }

  saying(reached: string): Stopped {
    return new Stopped(this.#cause, reached);
  }
}

/** A terminal sends SIGHUP when it is closed. */
const CAUSES = {
  SIGINT: { exitCode: 130, words: 'by Ctrl-C' },
  SIGTERM: { exitCode: 143, words: 'by SIGTERM' },
  SIGHUP: { exitCode: 143, words: 'by SIGHUP' },
} as const;

type StopCause = keyof typeof CAUSES;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies StopCause[];

/** npm passes a Ctrl-C on to its child, which has it from the terminal already. */
const SAME_KEY_PRESS_MS = 500;

/**
 * Returns the exit code of the work, once everything that it opened is closed. The first signal aborts the work; a
 * second one ends the process at once.
 *
 * Throws: the error of the work; else the first one of closing.
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
  }
}

/** Node undoes that SIGHUP is ignored: only the shell's variable for the last command still shows nohup. */
function isUnderNohup(environment: Readonly<Record<string, string | undefined>>): boolean {
  return /(^|\/)nohup$/.test(environment['_'] ?? '');
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
  // The first error explains the others.
  if (errors.length > 0) throw errors[0];
  return exitCode;
}

export interface Scope {
  /** Its signal aborts with the parent's, and when the scope is closed. */
  readonly lifetime: Lifetime;
  /**
   * Aborts the signal, and closes everything that was opened within it, the last one first. Idempotent: yes.
   *
   * Throws: the first error of closing.
   */
  close(): Promise<void>;
}

/** Returns a part of a lifetime that ends before it does: its opener closes it. */
export function openScope(parent: Lifetime): Scope {
  const controller = new AbortController();
  const closers: (() => Promise<unknown>)[] = [];
  const signal = AbortSignal.any([parent.signal, controller.signal]);
  const closeAll = async () => {
    controller.abort(new Error('its scope was closed'));
    await closeAfterwards(async () => 0, closers);
  };
  let closed: Promise<void> | null = null;
  return {
    lifetime: { ...parent, signal, onClose: (close) => closers.push(close) },
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}

/** Resolves when the signal aborts. Keeps the process alive until then. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A listener for a signal keeps no process alive by itself.
  const alive = setInterval(() => {}, 2 ** 30);
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearInterval(alive);
}
