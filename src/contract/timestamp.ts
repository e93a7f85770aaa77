// Reads and spells timestamps without losing a digit. This is the strict reader, for the API and the database;
// payments/files reads those that people write. (decode/fast/plain-values.ts reads them from a page's bytes: without a
// string for each, that takes a tenth of the time.)
//
// Accepted are the years 1 to 9999 in UTC, after the offset is applied. Postgres would hold more, but other software
// spells those differently. The trigger of commission_updates has the same bounds.

/** A time in UTC as ISO 8601 text, with microseconds if it comes from the database's clock. */
export type Timestamp = string;

export const FIRST_TIMESTAMP = '0001-01-01T00:00:00Z';
/** To the microsecond. */
export const LAST_TIMESTAMP = '9999-12-31T23:59:59.999999Z';

const FIRST_MS = Date.parse(FIRST_TIMESTAMP);
const LAST_MS = Date.parse(LAST_TIMESTAMP);

/** No offset moves these beyond a bound. */
const WELL_INSIDE = /^(?!000[01]|9999)\d{4}-/;

/** The usual spelling, except for 29 February: ten times as fast as the full check. */
const USUAL =
  /^[12]\d{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|\+00:?00)$/;
/** As the API may spell them: 2026-01-02T03:04[:05[.678]] and Z, +02, +0200 or +02:00. */
const SPELLED = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d(?::?\d\d)?)$/;
const ZONE = /(?:Z|[+-](?:0\d|1[0-5])(?::?\d\d)?)$/;

/**
 * Returns the problem of a text that should be a timestamp of the API, as the end of a sentence; null if there is none.
 * Source: contract, What the service does; Times.
 */
export function findTimestampProblem(text: string): string | null {
  if (USUAL.test(text)) return null;
  const spelled = SPELLED.exec(text);
  if (spelled === null) return 'expected an ISO 8601 date and time with a time zone';
  if (!ZONE.test(text)) return 'expected a time zone of at most 15:59 hours';
  const [, day = '', time = '', zone = ''] = spelled;
  const joined = joinTimestamp(day, time, zone);
  if (joined === null) return 'expected a day and a time that are in the calendar';
  return isInCalendar(joined) ? null : 'expected a year from 1 to 9999 in UTC';
}

/** Returns whether the timestamp, an ISO 8601 date and time with a zone, is within the bounds. */
export function isInCalendar(timestamp: string): boolean {
  if (WELL_INSIDE.test(timestamp)) return true;
  const ms = Date.parse(knownToDate(timestamp));
  return ms >= FIRST_MS && ms <= LAST_MS;
}

/**
 * Returns a timestamp of its parts: a day such as 2026-01-02, a time such as 03:04:05.678, and Z, +02, +0200 or +02:00.
 * Null if the calendar has no such day or time, or Postgres no such zone (beyond ±15:59).
 */
export function joinTimestamp(day: string, time: string, zone: string): Timestamp | null {
  const ms = Date.parse(`${day}T${time}Z`);
  // Date rolls 30 February over into March, so the parts must come back as they were written.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(`${day}T${time.slice(0, 5)}`)) return null;
  if (/^z$/i.test(zone)) return `${day}T${time}Z`;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const [hours, minutes] = [digits.slice(0, 2), digits.slice(2)];
  return Number(hours) > 15 || Number(minutes) > 59 ? null : `${day}T${time}${zone[0]}${hours}:${minutes}`;
}

/** Date.parse need not know an offset without a colon, and does not know one without minutes. */
function knownToDate(timestamp: string): string {
  const at = timestamp.length;
  if (timestamp.endsWith('Z') || timestamp[at - 6] === '+' || timestamp[at - 6] === '-') return timestamp;
  if (timestamp[at - 3] === '+' || timestamp[at - 3] === '-') return `${timestamp}:00`;
  return `${timestamp.slice(0, -2)}:${timestamp.slice(-2)}`;
}

/**
 * Returns the whole seconds of a timestamp, in milliseconds since 1970, and the digits after them.
 *
 * Throws: TypeError on text that is not a timestamp.
 */
export function splitTimestamp(timestamp: Timestamp): { ms: number; fraction: string } {
  const ms = Date.parse(knownToDate(timestamp));
  if (Number.isNaN(ms)) throw new TypeError(`${timestamp} is not a timestamp`);
  const start = timestamp.indexOf('.') + 1;
  const fraction = start === 0 ? '' : timestamp.slice(start, timestamp.search(/[Z+-][\d:]*$/));
  return { ms: Math.floor(ms / 1000) * 1000, fraction };
}

export const MICROS_PER_MILLI = 1000n;
export const MICROS_PER_SECOND = 1_000_000n;

/**
 * Returns microseconds since 1970; further digits are cut.
 *
 * Throws: TypeError on text that is not a timestamp.
 */
export function toMicros(timestamp: Timestamp): bigint {
  const { ms, fraction } = splitTimestamp(timestamp);
  return BigInt(ms) * MICROS_PER_MILLI + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

/**
 * Returns microseconds since 1970, cut to whole ones, as a timestamp in UTC with as many digits as it needs: none,
 * three or six.
 */
export function spellMicros(exact: bigint | number): Timestamp {
  const micros = typeof exact === 'bigint' ? exact : BigInt(Math.floor(exact));
  const fraction = micros - floorTo(micros, MICROS_PER_SECOND);
  const seconds = new Date(Number((micros - fraction) / MICROS_PER_MILLI)).toISOString().slice(0, 19);
  if (fraction === 0n) return `${seconds}Z`;
  const digits = fraction.toString().padStart(6, '0');
  return `${seconds}.${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`;
}

/** Returns the timestamp as `spellMicros` spells it, cut to the microsecond. */
export function spellTimestamp(timestamp: Timestamp): Timestamp {
  return spellMicros(toMicros(timestamp));
}

/** Returns milliseconds since 1970 as a timestamp in UTC, cut to the second: 2026-01-02T03:04:05Z. */
export function spellToTheSecond(ms: number): Timestamp {
  return spellMicros(BigInt(Math.floor(ms / 1000)) * MICROS_PER_SECOND);
}

/** Returns the number cut to a multiple of the unit, towards the past. */
export function floorTo(micros: bigint, unit: bigint): bigint {
  const rest = micros % unit;
  return micros - (rest < 0n ? rest + unit : rest);
}
