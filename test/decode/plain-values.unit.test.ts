// Values found in the bytes of a JSON text, against JSON.parse and the contract's schemas: what is accepted is what they
// accept, and is read as they read it.

import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { identifier, integer, text, timestamp } from '../../src/contract/fields.ts';
import { toMicros } from '../../src/contract/timestamp.ts';
import { NOWHERE } from '../../src/decode/fast/json-bytes.ts';
import {
  endOfNull,
  FIND_END,
  type FindEnd,
  integerAt,
  microsAt,
} from '../../src/decode/fast/plain-values.ts';
import { ODD_VALUES } from '../contract/mutated-records.ts';

const { text: endOfText, identifier: endOfIdentifier, timestamp: endOfTimestamp } = FIND_END;
const { integer: endOfInteger } = FIND_END;

const BEFORE = '[1,';

/** Returns the JSON text that is found at the place behind others; null where none is. */
function find(findEnd: FindEnd, json: string): string | null {
  const bytes = Buffer.from(BEFORE + json);
  const end = findEnd(bytes, BEFORE.length);
  return end === NOWHERE ? null : bytes.toString('utf8', BEFORE.length, end);
}

const quoted = (value: string) => JSON.stringify(value);
const twoDigits = (from: number, to: number) =>
  fc.integer({ min: from, max: to }).map((value) => String(value).padStart(2, '0'));

/** Timestamps in all spellings, right and nearly right. */
const composed: Arbitrary<string> = fc
  .tuple(
    fc
      .oneof(fc.integer({ min: 1800, max: 2199 }), fc.integer({ min: 0, max: 10_000 }))
      .map((year) => `${year}`.padStart(4, '0')),
    twoDigits(0, 13),
    twoDigits(0, 32),
    twoDigits(0, 24),
    twoDigits(0, 60),
    fc.option(fc.tuple(twoDigits(0, 60), fc.option(fc.stringMatching(/^\d{0,8}$/), { nil: null })), {
      nil: null,
    }),
    fc.constantFrom('Z', '+0000', '+00:00', '+00', '-0000', '+0100', '+00:30', 'z', ''),
  )
  .map(([year, month, day, hour, minute, more, zone]) => {
    const seconds = more === null ? '' : `:${more[0]}${more[1] === null ? '' : `.${more[1]}`}`;
    return `${year}-${month}-${day}T${hour}:${minute}${seconds}${zone}`;
  });

const timestamps = fc.oneof(
  composed,
  fc
    .date({ min: new Date('1700-01-01'), max: new Date('2299-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
);

const anything = fc.oneof(
  fc.constantFrom(...ODD_VALUES),
  fc.json().map((json) => JSON.parse(json) as unknown),
);

describe.each<{ name: string; findEnd: FindEnd; schema: z.ZodType; usual: Arbitrary<unknown> }>([
  { name: 'text', findEnd: endOfText, schema: text, usual: fc.string({ unit: 'binary' }) },
  { name: 'identifier', findEnd: endOfIdentifier, schema: identifier, usual: fc.uuid() },
  { name: 'timestamp', findEnd: endOfTimestamp, schema: timestamp, usual: timestamps },
  { name: 'integer', findEnd: endOfInteger, schema: integer, usual: fc.maxSafeInteger() },
])('a value that is found as $name', ({ findEnd, schema, usual }) => {
  test('is all of a JSON value that the schema accepts, whatever is behind it', () => {
    const found = { count: 0 };
    const spelled = fc.oneof(usual, anything).map((value) => JSON.stringify(value) ?? 'undefined');
    const broken = fc.tuple(spelled, fc.nat(), fc.constantFrom('"', '\\', '\n', '-', '0', '.', 'e', ' ', ''));
    fc.assert(
      fc.property(
        fc.oneof(
          spelled,
          broken.map(([json, at, put]) => {
            const place = at % (json.length + 1);
            return json.slice(0, place) + put + json.slice(place + 1);
          }),
        ),
        fc.constantFrom('', ',', '}', ' ', ']', '"'),
        (json, behind) => {
          const value = find(findEnd, json.toWellFormed() + behind);
          if (value === null) return;
          found.count += 1;
          expect(schema.safeParse(JSON.parse(value)).success).toBe(true);
          // A number is all of its digits: what follows a part of one is nothing that follows a value.
          if (findEnd === endOfInteger) expect(`${json}${behind}`.slice(value.length)).not.toMatch(/^\d/);
        },
      ),
      { numRuns: 2000 },
    );
    expect(found.count).toBeGreaterThan(100);
  });
});

test('null is found as it is', () => {
  expect(find(endOfNull, 'null')).toBe('null');
  for (const json of ['nul', 'nulL', '"null"', '']) expect(find(endOfNull, json)).toBeNull();
});

test('a timestamp is read to the microsecond, every day of a year but 29 February', () => {
  const spell = ['', ':00', ':59.9', ':07.000001', ':30.123456'].flatMap((seconds) =>
    ['Z', '+0000'].map((zone) => `${seconds}${zone}`),
  );
  let days = 0;
  for (const year of [1800, 1969, 2024, 2026, 2199]) {
    for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += 86_400_000) {
      const day = new Date(at).toISOString().slice(0, 10);
      const stamp = `${day}T23:5${days % 10}${spell[days % spell.length]}`;
      const json = quoted(stamp);
      if (day.endsWith('02-29')) {
        expect(find(endOfTimestamp, json)).toBeNull();
        continue;
      }
      days += 1;
      expect(find(endOfTimestamp, json)).toBe(json);
      const bytes = Buffer.from(json);
      expect([stamp, microsAt(bytes, 1)]).toEqual([stamp, Number(toMicros(stamp))]);
    }
  }
  expect(days).toBe(5 * 365);
});

test('an integer of up to 15 digits is read as JSON.parse reads it', () => {
  for (const json of ['0', '7', '-7', '10', '999999999999999', '-999999999999999']) {
    expect(find(endOfInteger, json)).toBe(json);
    expect(integerAt(Buffer.from(json), 0, json.length)).toBe(JSON.parse(json));
  }
  for (const json of ['-0', '01', '-01', '1000000000000000', '-', '', '+1', '.5', '1.0', '1e3', '7E2']) {
    expect([json, find(endOfInteger, json)]).toEqual([json, null]);
  }
});
