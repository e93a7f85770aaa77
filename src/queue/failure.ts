// Decides what becomes of a job whose work threw, by the class of the error. Pure.

import { isRefusal, isStatementError } from '../db/refusal.ts';
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
} from '../errors.ts';
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

/** Returns whether the program, or something in front of it, did not answer as it should. */
export function isFailureOfProgram(error: unknown): error is AppError {
  if (error instanceof ApiRejected) return !error.isOfProgram;
  return [ApiUnreachable, ApiUnavailable, ContractViolation].some((kind) => error instanceof kind);
}

/** What a bug throws: the next attempt would throw it again. */
const BUGS = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * Returns what to do about the error, which is as asDatabaseError has it. An error of no known class is tried again:
 * the attempts are bounded.
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
