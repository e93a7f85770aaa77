// When a request is sent again, and after how long.

import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import {
  ApiThrottled,
  ApiUnavailable,
  ApiUnreachable,
  type AppError,
  ContractViolation,
  RequestWithheld,
} from '../errors.ts';

export interface Attempts {
  /** How often an attempt may fail before the call fails. */
  readonly most: number;
  /** How often it may be answered 429 before the call fails; these do not count as failures. */
  readonly mostThrottled: number;
  /** Resolves after so many milliseconds; rejects when aborted. */
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/**
 * Five tries spread over some four seconds (fifteen at most) outlast a restart or a lost connection; the queue
 * handles longer outages. Ten 429s, each after the wait that it asks for, are minutes of an account
 * whose budget somebody else keeps using up; where no wait is named, the backoff alone spans a window of 30 s.
 */
export const ATTEMPTS: Attempts = {
  most: 5,
  mostThrottled: 10,
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 16_000;

/** What may succeed when retried. Everything else fails again, or (a write's unknown outcome) must not be repeated. */
const TRANSIENT = [ApiUnreachable, ApiUnavailable, ApiThrottled, ContractViolation, RequestWithheld];

export interface Wait {
  readonly error: AppError;
  readonly attempt: number;
  readonly waitMs: number;
}

/**
 * Returns what the first attempt that succeeds returns; attempts are numbered from 1.
 *
 * Throws: what the last attempt threw; at once what no retry can fix; the signal's reason when aborted.
 */
export async function retry<T>(
  attempts: Attempts,
  attempt: (number: number) => Promise<T>,
  onWait: (wait: Wait) => void,
  signal?: AbortSignal,
): Promise<T> {
  let failed = 0;
  let throttled = 0;
  return await pRetry(attempt, {
    // The two counts below decide; this is only their sum. The same goes for p-retry's delay: its randomising
    // adds between 0 and 100 %, so that clients that failed together try again together.
    retries: attempts.most + attempts.mostThrottled,
    minTimeout: 0,
    shouldRetry: async ({ error, attemptNumber }) => {
      if (!isTransient(error)) return false;
      const isThrottled = error instanceof ApiThrottled;
      const count = isThrottled ? ++throttled : ++failed;
      if (count >= (isThrottled ? attempts.mostThrottled : attempts.most)) return false;
      const asked = isThrottled ? (error.retryAfterMs ?? 0) : 0;
      // The jitter comes on top of what was asked for: a reset in whole seconds may say 0 a moment too early,
      // and everyone who was throttled would come back at once.
      const waitMs = asked + fullJitter(count);
      onWait({ error, attempt: attemptNumber, waitMs });
      await attempts.wait(waitMs, signal).catch((failure: unknown) => {
        // Node's timer rejects with an error of its own around the reason.
        signal?.throwIfAborted();
        throw failure;
      });
      return true;
    },
    ...(signal && { signal }),
  });
}

function isTransient(error: Error): error is AppError {
  return TRANSIENT.some((kind) => error instanceof kind);
}

function fullJitter(failures: number): number {
  const ceiling = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
  return Math.round(Math.random() * ceiling);
}
