// How many requests a drain works on at once.

import type { RateLimit } from '../../config/rate-limit.ts';

const MOST_AT_ONCE = 96;
const FEWEST_AT_ONCE = 4;

/**
 * Returns how many requests are best worked on at once. Under a tight limit few: more would only lengthen the time
 * between a commission's GET and its PUT. Without one, as many as keep two cores busy (measured).
 */
export function drainConcurrency(rateLimit: RateLimit): number {
  if (rateLimit === null) return MOST_AT_ONCE;
  const perSecond = Math.ceil(rateLimit.requests / rateLimit.windowSeconds);
  return Math.min(MOST_AT_ONCE, Math.max(FEWEST_AT_ONCE, perSecond));
}
