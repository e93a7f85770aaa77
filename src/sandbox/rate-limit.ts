// The account's request limit: an exact sliding window over the times at which requests came in.
//
// Decisions where the contract is silent:
// - A request that is answered 429 or 401 does not count into the window. Every other request does, also if a fault
//   spoils its answer.
// - Every answer to an authenticated request has the three headers while the limit is on.
// - RateLimit-Reset is the number of seconds, rounded up, until the oldest request leaves the window: after that
//   wait at least one request is free again.

import type { RateLimit } from '../config/program/rate-limit.ts';

export interface RateLimitVerdict {
  readonly isAllowed: boolean;
  /** The RateLimit-* headers; empty without a limit. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface RateLimiter {
  /** Returns whether a request received at that moment is within the limit, and counts it if so. */
  receive(atMs: number): RateLimitVerdict;
  /** Holds from the next request on; what was received before still counts. */
  setLimit(limit: RateLimit): void;
}

export function makeRateLimiter(initial: RateLimit): RateLimiter {
  let limit = initial;
  let accepted: number[] = [];
  return {
    setLimit(next) {
      limit = next;
    },
    receive(atMs) {
      if (limit === null) return { isAllowed: true, headers: {} };
      const windowMs = limit.windowSeconds * 1000;
      accepted = accepted.filter((moment) => moment > atMs - windowMs);
      const isAllowed = accepted.length < limit.requests;
      if (isAllowed) accepted.push(atMs);
      // After the limit was lowered, more than one request has to leave before the next one fits.
      const leaving = accepted[Math.max(0, accepted.length - limit.requests)] ?? atMs;
      return {
        isAllowed,
        headers: {
          'ratelimit-limit': String(limit.requests),
          'ratelimit-remaining': String(Math.max(0, limit.requests - accepted.length)),
          'ratelimit-reset': String(Math.ceil((leaving + windowMs - atMs) / 1000)),
        },
      };
    },
  };
}
