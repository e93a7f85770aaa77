// By how much an answer is older than its question. A cache in front of the API may answer from its store, also what it
// is asked for with cache-control: no-cache. It says so by `Age` (RFC 9111, 5.1): for so many whole seconds, rounded
// down, the API has not confirmed the answer. Where that is no longer than the answer took, the API may have given it
// after the question. A cache that sends no `Age` cannot be found out.

import { readSeconds } from '../contract/retry-after.ts';
import { AnswerStored } from '../errors.ts';
import { isFailure } from './answer.ts';
import type { ApiRequest, Outcome } from './send-request.ts';

/** A time so long ago can still be spelled, and an answer that is older is believed no less. */
const MOST_AGE_MS = 365 * 24 * 60 * 60 * 1000;

/** Returns by how many milliseconds the answer to a read is older than its question, at most; 0 where it is not. */
export function measureAge(
  { method }: Pick<ApiRequest, 'method'>,
  outcome: Pick<Extract<Outcome, { kind: 'answered' }>, 'headers' | 'sentAtMs' | 'headersAtMs'>,
): number {
  if (method !== 'GET') return 0;
  const ageMs = readSeconds(outcome.headers['age']) ?? 0;
  const tookMs = outcome.headersAtMs - outcome.sentAtMs;
  return ageMs > tookMs ? Math.min(ageMs + 1000 - tookMs, MOST_AGE_MS) : 0;
}

/**
 * Returns where the answer may be used: it is no older than its question, or a failure that passes, or a success that
 * its caller takes as old as it is.
 *
 * Throws: AnswerStored for any other.
 */
export function refuseStored(
  { method, path }: ApiRequest,
  status: number,
  { ageMs, takesStored }: { ageMs: number; takesStored: boolean },
): void {
  if (ageMs === 0 || status === 429 || isFailure(status) || (takesStored && status < 300)) return;
  throw new AnswerStored(
    `${method} ${path} was answered by a cache in front of the API, from its store: the answer is ${Math.round(ageMs / 1000)} s older than the question; have it pass on what is asked for with cache-control: no-cache`,
  );
}
