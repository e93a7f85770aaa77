// Reads a timestamp as users and their tools write it, in files and on the command line, and compares it with the
// API's. Pure. Strict, so that no payment moves to another day: the time zone must be there or be named for the whole
// file, and a date that could be two days is refused.

import { offsetMs } from '../contract/time-zone.ts';
import {
  FIRST_TIMESTAMP,
  floorTo,
  isInCalendar,
  joinTimestamp,
  LAST_TIMESTAMP,
  MICROS_PER_MILLI,
  MICROS_PER_SECOND,
  spellTimestamp,
  spellToTheSecond,
  splitTimestamp,
  type Timestamp,
  toMicros,
} from '../contract/timestamp.ts';
import type { DateSpelling } from './files/spelling.ts';

export type ReadTimestamp = { readonly timestamp: string } | { readonly problem: string };

const EXAMPLE = '2026-10-01T00:00:00Z';
const ISO_DAY = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/;
const LOCAL_DAY = /^(\d{1,2})([./])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;
const TIME = /^[Tt ](\d{2}:\d{2})(:\d{2}(?:\.(\d+))?)? ?(Z|z|UTC|[+-]\d{2}(?::?\d{2})?)?$/;
const MOST_DIGITS = 6;

/**
 * Returns the timestamp in UTC, or the problem of the text, to be read after the name of its column. The spelling is
 * that of its file; null if the text is no cell of a file.
 */
export function readTimestamp(text: string, spelling: DateSpelling | null = null): ReadTimestamp {
  const found = readDay(text, spelling);
  if (found === null) return { problem: `${quote(text)} is not a timestamp: write one such as ${EXAMPLE}` };
  if ('problem' in found) return found;
  const { day, rest } = found;
  const midnight = joinTimestamp(day, '00:00:00', 'Z');
  if (midnight === null) return { problem: `${quote(text)} is not in the calendar` };
  if (rest === '') return readMidnight(text, midnight, spelling);
  const match = TIME.exec(rest);
  if (match === null) return { problem: `${quote(text)} is not a timestamp: write one such as ${EXAMPLE}` };
  const [, hour = '', seconds = ':00', digits = '', zone] = match;
  if (digits.length > MOST_DIGITS) {
    return { problem: `${quote(text)} has more than ${MOST_DIGITS} digits after the second` };
  }
  const timestamp = joinTimestamp(day, `${hour}${seconds}`, zone?.replace(/^utc$/i, 'Z') ?? 'Z');
  if (timestamp === null) return { problem: `${quote(text)} is not in the calendar` };
  return zone === undefined ? readLocal(text, timestamp, digits, spelling) : inCalendar(text, timestamp);
}

/** A date, and the rest of the text; null if the text does not begin with a date. */
type FoundDay = { readonly day: string; readonly rest: string } | { readonly problem: string } | null;

function readDay(text: string, spelling: DateSpelling | null): FoundDay {
  const iso = ISO_DAY.exec(text);
  if (iso !== null) return { day: iso[0], rest: text.slice(iso[0].length) };
  const local = LOCAL_DAY.exec(text);
  if (local === null) return null;
  const [all, one = '', separator, two = '', year = ''] = local;
  // Spreadsheets write the hour with as many digits as it has.
  const rest = text.slice(all.length).replace(/^ (\d:)/, ' 0$1');
  if (year.length < 4) return { problem: `${quote(text)} has a year of two digits: write all four` };
  const spell = (month: string, day: string) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const [dayFirst, monthFirst] = [spell(two, one), spell(one, two)];
  const order = spelling?.dayOrder ?? null;
  if (separator === '.' || order === 'day-first') return { day: dayFirst, rest };
  if (order === 'month-first') return { day: monthFirst, rest };
  if (Number(one) > 12) return { day: dayFirst, rest };
  if (Number(two) > 12 || dayFirst === monthFirst) return { day: monthFirst, rest };
  const way = spelling === null ? ', with its time and zone' : ', or give --locale en-GB or en-US';
  return {
    problem: `${quote(text)} is ${dayFirst} where the day comes first, and ${monthFirst} where the month does: write the one that you mean${way}`,
  };
}

function readMidnight(text: string, midnight: Timestamp, spelling: DateSpelling | null): ReadTimestamp {
  if (spelling === null) {
    return {
      problem: `${quote(text)} is a date without a time: write it with time and zone, such as ${midnight}`,
    };
  }
  const { timeZone } = spelling;
  if (timeZone === null) {
    return {
      problem: `${quote(text)} is a date without a time: give --timezone, such as Europe/Berlin, to have its midnight there; or write ${midnight} for that of UTC`,
    };
  }
  const startMs = findStartOfDay(timeZone, Date.parse(midnight));
  return inCalendar(text, spellToTheSecond(startMs));
}

function readLocal(
  text: string,
  shown: Timestamp,
  digits: string,
  spelling: DateSpelling | null,
): ReadTimestamp {
  const timeZone = spelling?.timeZone ?? null;
  if (timeZone === null) {
    const hint = spelling === null ? '' : '; or give --timezone, such as Europe/Berlin';
    return {
      problem: `${quote(text)} has no time zone: end it with Z for UTC, or with an offset such as +02:00${hint}`,
    };
  }
  const moment = findLocalMoment(timeZone, splitTimestamp(shown).ms);
  if (moment === 'never') {
    return { problem: `${quote(text)} does not exist in ${timeZone}: the clocks skip it` };
  }
  if (moment === 'twice') {
    return {
      problem: `${quote(text)} is there twice in ${timeZone}, as the clocks go back: end it with an offset such as +02:00`,
    };
  }
  const fraction = digits === '' ? '' : `.${digits}`;
  return inCalendar(text, `${new Date(moment).toISOString().slice(0, 19)}${fraction}Z`);
}

function inCalendar(text: string, timestamp: Timestamp): ReadTimestamp {
  if (!isInCalendar(timestamp)) {
    return { problem: `${quote(text)} is not between ${FIRST_TIMESTAMP} and ${LAST_TIMESTAMP}` };
  }
  return { timestamp: spellTimestamp(timestamp) };
}

/** Invisible in a message: spaces of no width, marks of direction, and the like. */
const INVISIBLE = /\p{Cf}/gu;

/** Returns the text in quotes, short enough for a message, with invisible characters as codes. */
export function quote(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return JSON.stringify(short).replace(
    INVISIBLE,
    (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** How the API's timestamp relates to the one that was asked for. `cut`: the same, with its end cut off. */
export type Match = 'same' | 'cut' | 'different';

/**
 * Returns whether the API has the timestamp that was asked for. Cut to the second or the millisecond it still has it.
 * Source: contract, Times.
 */
export function matchTimestamp(asked: string, held: string | null): Match {
  if (held === null) return 'different';
  const wanted = toMicros(asked);
  const found = toMicros(held);
  if (wanted === found) return 'same';
  return found === floorTo(wanted, MICROS_PER_SECOND) || found === floorTo(wanted, MICROS_PER_MILLI)
    ? 'cut'
    : 'different';
}

// From a date or a time on the wall of some place to the one moment that it means: by Intl's own table of time zones;
// Temporal does the same, but Node 24 has none yet. A test compares the two.

/** No place changes its clocks twice within as long. */
const DAY_MS = 24 * 3_600_000;

/** The moment in ms since 1970; or `never` and `twice` if the clocks of the place skip or repeat that time. */
type LocalMoment = number | 'never' | 'twice';

/** Returns the moment at which the clocks of the time zone show the time, which is given as if it were UTC. */
function findLocalMoment(timeZone: string, shownMs: number): LocalMoment {
  const [first, second] = momentsShowing(timeZone, shownMs);
  if (first === undefined) return 'never';
  return second === undefined ? first : 'twice';
}

/** Returns the first moment of the day in the time zone, in ms since 1970; its midnight is given as if it were UTC. */
function findStartOfDay(timeZone: string, midnightMs: number): number {
  const [first] = momentsShowing(timeZone, midnightMs);
  // If the clocks go forward at midnight, the day begins as they do: at the old offset's midnight.
  return first ?? midnightMs - offsetMs(timeZone, midnightMs - DAY_MS);
}

function momentsShowing(timeZone: string, shownMs: number): number[] {
  const offsets = [shownMs - DAY_MS, shownMs + DAY_MS].map((ms) => offsetMs(timeZone, ms));
  return [...new Set(offsets)]
    .map((offset) => shownMs - offset)
    .filter((ms) => ms + offsetMs(timeZone, ms) === shownMs)
    .toSorted((a, b) => a - b);
}
