// Decides by the class of an error how the job that threw it goes on. Pure.

import {
  ApiRejected,
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  AppError,
  ContractViolation,
  PersonalDataMismatch,
  ProgramChanged,
} from '../../base/errors.ts';
import { isRefusal, isStatementError } from '../../db/database-errors.ts';
import type { Timings } from './timings.ts';

export type Decision =
  /** Once more after a backoff; costs an attempt. */
  | { readonly kind: 'retry' }
  /** Once more after this wait; costs none. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  /** Once the API serves the mirror's account again; costs none. */
  | { readonly kind: 'refused'; readonly error: AppError }
  | { readonly kind: 'fail' };

/** Returns whether every further request would meet it: the API refuses the secret, or serves another account. */
export function isRefusing(error: unknown): error is ApiUnauthorized | ProgramChanged {
  return error instanceof ApiUnauthorized || error instanceof ProgramChanged;
}

/** Returns whether the API, or a proxy in front of it, did not answer as it should. */
export function isFailureOfProgram(error: unknown): error is AppError {
  if (error instanceof ApiRejected) return !error.isOfProgram;
  return [ApiUnreachable, ApiUnavailable, ContractViolation].some((kind) => error instanceof kind);
}

/** Errors of a bug: the next attempt would throw them again. */
const BUGS = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * Returns what to do about the error, which has passed asDatabaseError. An error of no known class is tried again: the
 * attempts are bounded.
 */
export function decideAfterFailure(error: unknown, { throttledMs }: Pick<Timings, 'throttledMs'>): Decision {
  if (isRefusing(error)) return { kind: 'refused', error };
  if (error instanceof ApiThrottled) return { kind: 'wait', waitMs: error.retryAfterMs ?? throttledMs };
  // This worker ends within its next round (keep-jobs.ts); the job is for one that is set as the mirror is.
  if (error instanceof PersonalDataMismatch) return { kind: 'wait', waitMs: throttledMs };
  if (error instanceof AppError) return { kind: error.retry === 'never' ? 'fail' : 'retry' };
  if (isStatementError(error)) return { kind: isRefusal(error) ? 'fail' : 'retry' };
  return { kind: BUGS.some((kind) => error instanceof kind) ? 'fail' : 'retry' };
}

/** Returns how long to wait before the next attempt: full jitter, so that workers do not come back together. */
export function backoffMs(
  attemptsMade: number,
  { firstBackoffMs, longestBackoffMs }: Pick<Timings, 'firstBackoffMs' | 'longestBackoffMs'>,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(attemptsMade - 1, 30));
  return Math.ceil(random() * ceiling);
}
