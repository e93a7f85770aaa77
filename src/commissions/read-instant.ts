// Reads a moment as people and their tools write it. Pure. Strict about the one thing that moves money to another day:
// the time zone must be there.

import { FIRST_TIMESTAMP, isInCalendar, LAST_TIMESTAMP } from '../contract/timestamp.ts';
import { spellInstant } from './instants.ts';

export type ReadInstant = { readonly instant: string } | { readonly problem: string };

const EXAMPLE = '2026-10-01T00:00:00Z';
const MOMENT =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(:\d{2}(?:\.(\d+))?)? ?(Z|z|UTC|[+-]\d{2}(?::?\d{2})?)?$/;
const MOST_DIGITS = 6;

/** Gives back the moment in UTC, or what is wrong with the text, to be read after the name of its column. */
export function readInstant(text: string): ReadInstant {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return {
      problem: `${quote(text)} is a day, not a moment: write it with time and zone, such as ${EXAMPLE}`,
    };
  }
  const match = MOMENT.exec(text);
  if (match === null) return { problem: `${quote(text)} is not a moment: write it as ${EXAMPLE}` };
  const [, day = '', minute = '', seconds = ':00', digits = '', zone] = match;
  if (zone === undefined) {
    return {
      problem: `${quote(text)} has no time zone: end it with Z for UTC, or with an offset such as +02:00`,
    };
  }
  if (digits.length > MOST_DIGITS) {
    return { problem: `${quote(text)} has more than ${MOST_DIGITS} digits behind the second` };
  }
  const wall = `${day}T${minute}${seconds}`;
  const offset = offsetOf(zone);
  // Date rolls 30 February over into March, so the parts must come back as they were written.
  const isReal =
    offset !== null &&
    !Number.isNaN(Date.parse(`${wall}Z`)) &&
    new Date(`${wall}Z`).toISOString().startsWith(`${day}T${minute}`);
  if (!isReal) return { problem: `${quote(text)} is no moment of the calendar` };
  const instant = `${wall}${offset}`;
  if (!isInCalendar(instant)) {
    return { problem: `${quote(text)} is not between ${FIRST_TIMESTAMP} and ${LAST_TIMESTAMP}` };
  }
  return { instant: spellInstant(instant) };
}

/** Gives back the text in quotes, short enough for a message. */
export function quote(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return JSON.stringify(short);
}

// Zones beyond ±15:59 are no instants to Postgres.
function offsetOf(zone: string): string | null {
  if (/^(z|utc)$/i.test(zone)) return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  if (Number(digits.slice(0, 2)) > 15 || Number(digits.slice(2)) > 59) return null;
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
