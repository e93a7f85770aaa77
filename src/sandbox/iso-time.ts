// Which texts count as an ISO 8601 time.
//
// Decisions where the contract is silent: a date alone is its midnight; a time without an offset is UTC; seconds and
// their fraction may be left out; digits beyond the millisecond are cut; a moment beyond the years 1 to 9999 in UTC,
// its offset applied, is none, nor is one whose offset is beyond 15:59.

import { isInCalendar, joinTimestamp } from '../contract/timestamp.ts';

const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Returns the time that the text names, or undefined where it names none. */
export function readIsoTime(text: string): Date | undefined {
  const match = ISO_8601.exec(text);
  if (match === null) return undefined;
  const [, day = '', hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match;
  const time = `${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  const timestamp = joinTimestamp(day, time, offset);
  return timestamp !== null && isInCalendar(timestamp) ? new Date(timestamp) : undefined;
}
