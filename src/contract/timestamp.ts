// Which timestamps are accepted: those of the years 1 to 9999 in UTC, once the offset is applied. Postgres would hold
// more, but nothing else agrees on how to spell them. The trigger of commission_updates has the same bounds.

/** A time in UTC as ISO 8601 text, with microseconds where it comes from the database's clock. */
export type Timestamp = string;

export const FIRST_TIMESTAMP = '0001-01-01T00:00:00Z';
/** To the microsecond. */
export const LAST_TIMESTAMP = '9999-12-31T23:59:59.999999Z';

const FIRST_MS = Date.parse(FIRST_TIMESTAMP);
const LAST_MS = Date.parse(LAST_TIMESTAMP);
/** Digits that Postgres would round up, into the year 10000. */
const ROUNDED_UP = /\.9{6}[5-9]/;

/** No offset moves these past a bound; parsing every one of a page would take a fifth of the time of reading it. */
const WELL_INSIDE = /^(?!000[01]|9999)\d{4}-/;

/** Returns whether the timestamp, an ISO 8601 date and time with a zone, is within the bounds. */
export function isInCalendar(timestamp: string): boolean {
  if (WELL_INSIDE.test(timestamp)) return true;
  const ms = Date.parse(timestamp);
  return ms >= FIRST_MS && (ms < LAST_MS || (ms === LAST_MS && !ROUNDED_UP.test(timestamp)));
}
