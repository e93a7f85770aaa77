// The account's rate limit, as written in a variable or an option.

/** At most `requests` in any window of `windowSeconds`; null is no limit. */
export type RateLimit = { readonly requests: number; readonly windowSeconds: number } | null;

export const RATE_LIMIT_FORM =
  'requests/seconds, such as 45/30, or none: from 1 to 9999999 requests, and up to 999999.999 seconds, not 0';

/** Returns the limit of a text such as `45/30` or `none`; undefined if it is malformed. */
export function readRateLimit(text: string): RateLimit | undefined {
  const trimmed = text.trim();
  if (trimmed === 'none') return null;
  const match = /^([1-9]\d{0,6})\/(\d{1,6}(?:\.\d{1,3})?)$/.exec(trimmed);
  if (match === null) return undefined;
  const windowSeconds = Number(match[2]);
  return windowSeconds > 0 ? { requests: Number(match[1]), windowSeconds } : undefined;
}
