// Which requests are retried, and after how long. p-retry waits between two attempts. The pause that a 429 asks for is
// the budget's: it holds for every process, and the next attempt takes its permit only after it.

import pRetry from 'p-retry';
import {
  ApiThrottled,
  ApiUnavailable,
  ApiUnreachable,
  AppError,
  ContractViolation,
  RequestWithheld,
} from '../base/errors.ts';

export interface Attempts {
  /** How often an attempt may fail before the call fails. */
  readonly most: number;
  /** How often a 429 may come before the call fails; they do not count as failures. */
  readonly mostThrottled: number;
  /** The first wait takes this long, and up to twice as long by chance; each later one twice that of the one before. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

/**
 * Five tries spread over four to eight seconds outlast a restart or a lost connection; the queue handles longer
 * outages. Ten 429s, each with its pause, are minutes of an account whose limit another client keeps using up; if
 * they name no pause, the waits between attempts span a window of 30 s.
 */
export const ATTEMPTS: Attempts = { most: 5, mostThrottled: 10, firstWaitMs: 250, longestWaitMs: 16_000 };

/** Errors that may pass. Every other fails again, or (a write's unknown outcome) must not be repeated. */
const TRANSIENT = [ApiUnreachable, ApiUnavailable, ApiThrottled, ContractViolation, RequestWithheld];

export interface RetryOptions {
  readonly onWait: (wait: RetryWait) => void;
  readonly signal?: AbortSignal | undefined;
}

interface RetryWait {
  readonly error: AppError;
  readonly attempt: number;
  readonly waitMs: number;
}

/**
 * Returns the result of the first attempt that succeeds; attempts are numbered from 1.
 *
 * Throws: the error of the last attempt, at once if no retry can help; the signal's reason when aborted.
 */
export async function retry<T>(
  { most, mostThrottled, firstWaitMs, longestWaitMs }: Attempts,
  attempt: (number: number) => Promise<T>,
  { onWait, signal }: RetryOptions,
): Promise<T> {
  let failed = 0;
  let throttled = 0;
  return await pRetry(attempt, {
    // The two counts below decide; this is only their sum.
    retries: most + mostThrottled,
    minTimeout: firstWaitMs,
    maxTimeout: longestWaitMs,
    // Clients that failed together do not try again together.
    randomize: true,
    shouldRetry: ({ error, attemptNumber, retryDelay }) => {
      if (!(error instanceof AppError && isTransient(error))) return false;
      if (error instanceof ApiThrottled) throttled += 1;
      else failed += 1;
      if (failed >= most || throttled >= mostThrottled) return false;
      onWait({ error, attempt: attemptNumber, waitMs: retryDelay });
      return true;
    },
    ...(signal && { signal }),
  });
}

function isTransient(error: AppError): boolean {
  return TRANSIENT.some((kind) => error instanceof kind);
}
