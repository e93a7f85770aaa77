// Whether an answer is older than its request. A cache in front of the API may answer from its store, even to
// cache-control: no-cache. `Age` (RFC 9111, 5.1) shows that: the seconds, rounded down, since the API confirmed the
// answer. If that is no more than the duration of the request, the API may have given the answer after the request.
// There is no other tolerance. A cache that sends no `Age` is not detected: its old `Date` could as well be a wrong
// clock.

import { AnswerStored } from '../base/errors.ts';
import { readSeconds } from '../contract/retry-after.ts';
import { isFailure } from './answer.ts';
import type { ApiRequest, Outcome } from './send-request.ts';

type Answered = Omit<Extract<Outcome, { kind: 'answered' }>, 'kind' | 'body'>;

/**
 * Throws: AnswerStored if the answer to a read is older than its request, unless it is a failure or 429.
 */
export function refuseStored({ method, path }: ApiRequest, answer: Answered): void {
  const { status, headers, sentAtMs, headersAtMs } = answer;
  const ageMs = readSeconds(headers['age']) ?? 0;
  const tookMs = headersAtMs - sentAtMs;
  if (method !== 'GET' || ageMs <= tookMs || status === 429 || isFailure(status)) return;
  throw new AnswerStored(
    `${method} ${path} was answered by a cache in front of the API, from its store: the answer is ${Math.ceil((ageMs - tookMs) / 1000)} s older than the request; have the cache pass on requests with cache-control: no-cache`,
  );
}
