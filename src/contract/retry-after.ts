// The header Retry-After: the wait that an answer asks for, in seconds or as an HTTP date (RFC 9110, 10.2.3). Pure.

/** A header as Node and undici give it: a list if it came several times. */
export type HeaderValue = string | string[] | undefined;

/**
 * Returns the wait in milliseconds; null if the header has no usable value. A date is measured against the answer's own
 * `Date` header if there is one, because the two clocks may differ.
 */
export function readRetryAfter(headers: Readonly<Record<string, HeaderValue>>, nowMs: number): number | null {
  const seconds = readSeconds(headers['retry-after']);
  if (seconds !== null) return seconds;
  const until = readDate(headers['retry-after']);
  return until === null ? null : Math.max(0, until - (readDate(headers['date']) ?? nowMs));
}

/** Returns a number of seconds in milliseconds; null if the header is none. */
export function readSeconds(value: HeaderValue): number | null {
  const text = firstOf(value);
  return /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Math.ceil(Number(text) * 1000) : null;
}

/** Returns the value of a header without the blanks around it; of several the first, empty if there is none. */
export function firstOf(value: HeaderValue): string {
  return (Array.isArray(value) ? (value[0] ?? '') : (value ?? '')).trim();
}

/** Returns an HTTP date in milliseconds since 1970; null if the header is none. */
export function readDate(value: HeaderValue): number | null {
  const text = firstOf(value);
  // Date.parse accepts almost anything as a date (V8 accepts "-5"); an HTTP date starts with its weekday.
  const time = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
