// One calendar for all that read or store a timestamp: the years 1 to 9999 in UTC, once the offset is applied.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timestamp } from '../../src/contract/fields.ts';
import {
  FIRST_TIMESTAMP,
  isInCalendar,
  joinTimestamp,
  LAST_TIMESTAMP,
  spellMicros,
  spellTimestamp,
  spellToTheSecond,
} from '../../src/contract/timestamp.ts';
import { readTimestamp } from '../../src/payments/timestamps.ts';

const INSIDE = [FIRST_TIMESTAMP, LAST_TIMESTAMP, '0001-01-01T05:00+0500', '9999-12-31T18:59:59-05:00'];
const OUTSIDE = [
  '0001-01-01T04:59+0500',
  '0000-12-31T23:59:59Z',
  '9999-12-31T23:59:59-05:00',
  '9999-12-31T23:59:59.999999-00:01',
];

test.each(INSIDE)('%s is a timestamp everywhere', (text) => {
  expect(isInCalendar(text)).toBe(true);
  expect(timestamp.safeParse(text).success).toBe(true);
  expect(readTimestamp(text)).toHaveProperty('timestamp');
});

test.each(OUTSIDE)('%s is none anywhere', (text) => {
  expect(isInCalendar(text)).toBe(false);
  expect(timestamp.safeParse(text).success).toBe(false);
  expect(readTimestamp(text)).toHaveProperty('problem');
});

test('a timestamp with an offset is one exactly where it is one in UTC', () => {
  const days = fc.constantFrom('0001-01-01', '0001-01-02', '2026-01-01', '9999-12-30', '9999-12-31');
  const two = (value: number) => String(value).padStart(2, '0');
  fc.assert(
    fc.property(days, fc.nat(23), fc.integer({ min: -959, max: 959 }), (day, hour, offset) => {
      const size = Math.abs(offset);
      const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
      const text = `${day}T${two(hour)}:30:00${zone}`;
      const year = new Date(Date.parse(`${day}T${two(hour)}:30:00Z`) - offset * 60_000).getUTCFullYear();
      expect(isInCalendar(text)).toBe(year >= 1 && year <= 9999);
      const read = readTimestamp(text);
      expect('timestamp' in read).toBe(year >= 1 && year <= 9999);
      // What is read can be read again: no year has five digits.
      if ('timestamp' in read) expect(readTimestamp(read.timestamp)).toEqual(read);
    }),
    {
      // At the first and the last hour of the calendar, an offset to either side of it.
      examples: [
        ['0001-01-01', 0, 30],
        ['0001-01-01', 0, 31],
        ['0001-01-01', 15, 959],
        ['9999-12-31', 23, -29],
        ['9999-12-31', 23, -30],
        ['9999-12-31', 8, -959],
      ],
    },
  );
});

test.each([
  ['2026-10-01T14:00:00+02:00', '2026-10-01T12:00:00Z'],
  ['2026-10-01T12:00:00.5Z', '2026-10-01T12:00:00.500Z'],
  ['2026-10-01T12:00:00.123450Z', '2026-10-01T12:00:00.123450Z'],
  ['1969-12-31T23:59:58.5Z', '1969-12-31T23:59:58.500Z'],
  ['2026-01-31T09:30+0000', '2026-01-31T09:30:00Z'],
  ['2026-01-31T09:30:01.25-0930', '2026-01-31T19:00:01.250Z'],
  ['2026-01-31T09:30+02', '2026-01-31T07:30:00Z'],
])('%s is spelled %s', (timestamp, spelled) => {
  expect(spellTimestamp(timestamp)).toBe(spelled);
});

test('a number of microseconds or milliseconds is spelled cut, before 1970 too', () => {
  expect(spellMicros(1_123_456.9)).toBe('1970-01-01T00:00:01.123456Z');
  expect(spellMicros(-1.5)).toBe('1969-12-31T23:59:59.999998Z');
  expect(spellToTheSecond(1_767_225_600_999)).toBe('2026-01-01T00:00:00Z');
  expect(spellToTheSecond(-1)).toBe('1969-12-31T23:59:59Z');
});

test.each([
  ['2026-02-30', '00:00:00', 'Z'],
  ['2026-01-01', '24:00:00', 'Z'],
  ['2026-01-01', '00:60:00', 'Z'],
  ['2026-01-01', '00:00:60', 'Z'],
  ['2026-01-01', '00:00:00', '+16:00'],
  ['2026-01-01', '00:00:00', '-0160'],
])('%sT%s%s is in no calendar', (day, time, zone) => {
  expect(joinTimestamp(day, time, zone)).toBeNull();
});

test.each(['+02:00', '+0200', '+02'])('the zone %s is one', (zone) => {
  expect(joinTimestamp('2026-01-01', '12:00:00.5', zone)).toBe('2026-01-01T12:00:00.5+02:00');
});
