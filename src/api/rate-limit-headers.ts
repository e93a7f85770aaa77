// Reads the headers on the account's limit.

import { firstOf, type HeaderValue, readRetryAfter, readSeconds } from '../contract/retry-after.ts';
import type { AnsweredLimits } from './permit.ts';

/** Headers as undici gives them: lower-case names, a list if one came several times. */
export type AnswerHeaders = Readonly<Record<string, HeaderValue>>;

const TOO_MANY_REQUESTS = 429;

/** No known rate limit has windows this long: a larger figure is not a wait but, say, a Unix timestamp. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * The longest time for which the headers of an answer hold: they may be wrong, and a pause of hours would stop the
 * mirror. After it, one request is sent to ask again.
 */
export const LONGEST_PAUSE_MS = 5 * 60 * 1000;

/**
 * A field is null if the headers say nothing usable.
 *
 * Waits are cut to LONGEST_PAUSE_MS. On 429 the wait is the longer of `Retry-After` and `RateLimit-Reset`. A date is
 * measured against the answer's own `Date` header if there is one, because the two clocks may differ.
 * Source: contract, Rate limit.
 */
export function readRateLimitHeaders(status: number, headers: AnswerHeaders, nowMs: number): AnsweredLimits {
  const throttled = status === TOO_MANY_REQUESTS;
  const reset = usableWait(readSeconds(headers['ratelimit-reset']));
  const retryAfter = throttled ? usableWait(readRetryAfter(headers, nowMs)) : null;
  return {
    throttled,
    limit: countIn(headers['ratelimit-limit']),
    remaining: countIn(headers['ratelimit-remaining']),
    resetMs: reset === null || retryAfter === null ? (reset ?? retryAfter) : Math.max(reset, retryAfter),
  };
}

function usableWait(ms: number | null): number | null {
  return ms !== null && ms <= LONGEST_WAIT_MS ? Math.min(ms, LONGEST_PAUSE_MS) : null;
}

// `RateLimit-Limit` may give its window after the number: `45, 45;w=30`.
function countIn(value: HeaderValue): number | null {
  const match = /^(\d{1,9})(?=$|[\s,;])/.exec(firstOf(value));
  return match === null ? null : Number(match[1]);
}
