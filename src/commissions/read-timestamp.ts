// Reads a timestamp as people and their tools write it. Pure. Strict about the one thing that moves money to another
// day: the time zone must be there.

import { FIRST_TIMESTAMP, isInCalendar, LAST_TIMESTAMP } from '../contract/timestamp.ts';
import { spellTimestamp } from './timestamps.ts';

export type ReadTimestamp = { readonly timestamp: string } | { readonly problem: string };

const EXAMPLE = '2026-10-01T00:00:00Z';
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2}(?:\.(\d+))?)? ?(Z|z|UTC|[+-]\d{2}(?::?\d{2})?)?$/;
const MOST_DIGITS = 6;

/** Returns the timestamp in UTC, or what is wrong with the text, to be read after the name of its column. */
export function readTimestamp(text: string): ReadTimestamp {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return {
      problem: `${quote(text)} is a date without a time: write it with time and zone, such as ${EXAMPLE}`,
    };
  }
  const match = TIMESTAMP.exec(text);
  if (match === null) return { problem: `${quote(text)} is not a timestamp: write it as ${EXAMPLE}` };
  const [, day = '', minute = '', seconds = ':00', digits = '', zone] = match;
  if (zone === undefined) {
    return {
      problem: `${quote(text)} has no time zone: end it with Z for UTC, or with an offset such as +02:00`,
    };
  }
  if (digits.length > MOST_DIGITS) {
    return { problem: `${quote(text)} has more than ${MOST_DIGITS} digits after the second` };
  }
  const wall = `${day}T${minute}${seconds}`;
  const offset = offsetOf(zone);
  // Date rolls 30 February over into March, so the parts must come back as they were written.
  const isReal =
    offset !== null &&
    !Number.isNaN(Date.parse(`${wall}Z`)) &&
    new Date(`${wall}Z`).toISOString().startsWith(`${day}T${minute}`);
  if (!isReal) return { problem: `${quote(text)} is not in the calendar` };
  const timestamp = `${wall}${offset}`;
  if (!isInCalendar(timestamp)) {
    return { problem: `${quote(text)} is not between ${FIRST_TIMESTAMP} and ${LAST_TIMESTAMP}` };
  }
  return { timestamp: spellTimestamp(timestamp) };
}

/** Returns the text in quotes, short enough for a message. */
export function quote(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return JSON.stringify(short);
}

// Postgres refuses zones beyond ±15:59.
function offsetOf(zone: string): string | null {
  if (/^(z|utc)$/i.test(zone)) return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  if (Number(digits.slice(0, 2)) > 15 || Number(digits.slice(2)) > 59) return null;
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
