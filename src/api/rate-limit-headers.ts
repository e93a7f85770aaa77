// Reads what the headers of an answer say of the account's budget.

import type { AnsweredLimits } from './permit.ts';

/** Headers as undici gives them: lower-case names, a list where one came several times. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

const TOO_MANY_REQUESTS = 429;

/** No known rate limit has windows this long: a larger figure is not a wait but, say, a Unix timestamp. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * How long anything that an answer says of the limit holds at most: an answer may be wrong, and a pause of hours would
 * stop the mirror. After it one request asks again.
 */
export const LONGEST_PAUSE_MS = 5 * 60 * 1000;

/**
 * Returns what the answer says of the account's limit; null in each field where it says nothing usable.
 *
 * Waits are cut to LONGEST_PAUSE_MS. On 429 the wait is the longer of `Retry-After` and `RateLimit-Reset`. A date is
 * measured against the answer's own `Date` header where there is one, since the two clocks may differ.
 * Source: contract, Rate limit.
 */
export function readRateLimitHeaders(status: number, headers: AnswerHeaders, nowMs: number): AnsweredLimits {
  const throttled = status === TOO_MANY_REQUESTS;
  const reset = usableWait(secondsIn(headers['ratelimit-reset']));
  const retryAfter = throttled ? usableWait(readRetryAfter(headers, nowMs)) : null;
  return {
    throttled,
    limit: countIn(headers['ratelimit-limit']),
    remaining: countIn(headers['ratelimit-remaining']),
    resetMs: reset === null || retryAfter === null ? (reset ?? retryAfter) : Math.max(reset, retryAfter),
  };
}

function readRetryAfter(headers: AnswerHeaders, nowMs: number): number | null {
  const seconds = secondsIn(headers['retry-after']);
  if (seconds !== null) return seconds;
  const until = dateIn(headers['retry-after']);
  return until === null ? null : Math.max(0, until - (dateIn(headers['date']) ?? nowMs));
}

function usableWait(ms: number | null): number | null {
  return ms !== null && ms <= LONGEST_WAIT_MS ? Math.min(ms, LONGEST_PAUSE_MS) : null;
}

function secondsIn(value: string | string[] | undefined): number | null {
  const text = only(value);
  return /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Math.ceil(Number(text) * 1000) : null;
}

// `RateLimit-Limit` may give its window after the number: `45, 45;w=30`.
function countIn(value: string | string[] | undefined): number | null {
  const match = /^(\d{1,9})(?=$|[\s,;])/.exec(only(value));
  return match === null ? null : Number(match[1]);
}

// Date.parse accepts almost anything as a date (V8 accepts "-5"); an HTTP date starts with its weekday.
function dateIn(value: string | string[] | undefined): number | null {
  const text = only(value);
  const time = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

function only(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? (value[0] ?? '') : (value ?? '')).trim();
}
