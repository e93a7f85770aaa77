// Which texts count as an ISO 8601 time.
//
// Decisions where the contract is silent: a date alone is its midnight; a time without an offset is UTC; seconds and
// their fraction may be left out; digits beyond the millisecond are cut; a moment beyond the years 1 to 9999 in UTC,
// its offset applied, is none.

import { isInCalendar } from '../contract/timestamp.ts';

const ISO_8601 =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Returns the time that the text names, or undefined where it names none. */
export function readIsoTime(text: string): Date | undefined {
  const match = ISO_8601.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', offset = 'Z'] = match;
  const millisecond = fraction.slice(0, 3).padEnd(3, '0');
  const wall = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
  // Date rolls 30 February over into March, so the parts must come back as they were written.
  const isReal =
    !Number.isNaN(wall.getTime()) && wall.toISOString().slice(0, 10) === `${year}-${month}-${day}`;
  const minutes = readOffsetMinutes(offset);
  if (!isReal || minutes === undefined) return undefined;
  const moment = new Date(wall.getTime() - minutes * 60_000);
  return isInCalendar(moment.toISOString()) ? moment : undefined;
}

function readOffsetMinutes(offset: string): number | undefined {
  if (/^z$/i.test(offset)) return 0;
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
