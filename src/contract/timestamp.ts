// Which moments there are here: those of the years 1 to 9999 in UTC, once the offset is applied. Postgres would hold
// more, but nothing else agrees on how to spell them. The trigger of commission_updates keeps to the same bounds.

/** A UTC moment as ISO 8601 text, with microseconds where it comes from the database's clock. */
export type Timestamp = string;

/** The first moment. */
export const FIRST_TIMESTAMP = '0001-01-01T00:00:00Z';
/** The last moment, to the microsecond. */
export const LAST_TIMESTAMP = '9999-12-31T23:59:59.999999Z';

const FIRST_MS = Date.parse(FIRST_TIMESTAMP);
const LAST_MS = Date.parse(LAST_TIMESTAMP);
/** Digits that Postgres would round up, into the year 10000. */
const ROUNDED_UP = /\.9{6}[5-9]/;

/** No offset moves these over an edge; reading every one of a page would cost a fifth of the page. */
const WELL_INSIDE = /^(?!000[01]|9999)\d{4}-/;

/** Returns whether the moment, an ISO 8601 date and time with a zone, lies within the bounds. */
export function isInCalendar(timestamp: string): boolean {
  if (WELL_INSIDE.test(timestamp)) return true;
  const ms = Date.parse(timestamp);
  return ms >= FIRST_MS && (ms < LAST_MS || (ms === LAST_MS && !ROUNDED_UP.test(timestamp)));
}
