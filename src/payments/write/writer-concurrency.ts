// The concurrency of a writer. In a file of its own: a command that only asks for payments does not load the writer.

import type { RateLimit } from '../../config/program/rate-limit.ts';

const MOST_AT_ONCE = 96;
const FEWEST_AT_ONCE = 4;

/**
 * Returns the best concurrency of a writer. Under a tight limit few requests: more would only lengthen the time between
 * a commission's GET and its PUT. Without one, as many as keep two cores busy (measured).
 */
export function writerConcurrency(rateLimit: RateLimit): number {
  if (rateLimit === null) return MOST_AT_ONCE;
  const perSecond = Math.ceil(rateLimit.requests / rateLimit.windowSeconds);
  return Math.min(MOST_AT_ONCE, Math.max(FEWEST_AT_ONCE, perSecond));
}
