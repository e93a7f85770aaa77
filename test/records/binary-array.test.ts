import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  joinBinaryArrays,
  toBinaryArray,
  toMicros,
  toTimestampArray,
} from '../../src/records/binary-array.ts';
import type { ColumnType } from '../../src/records/mirrored-tables.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

const two = (from: number, to: number) =>
  fc.integer({ min: from, max: to }).map((n) => String(n).padStart(2, '0'));
const timestamp = fc
  .tuple(
    fc.integer({ min: 1, max: 9999 }).map((year) => String(year).padStart(4, '0')),
    two(1, 12),
    two(1, 28),
    two(0, 23),
    two(0, 59),
    two(0, 59),
    fc.oneof(
      fc.constant(''),
      fc.stringMatching(/^[0-9]{1,6}$/).map((fraction) => `.${fraction}`),
    ),
    fc.oneof(
      fc.constant('Z'),
      fc.tuple(fc.constantFrom('+', '-'), two(0, 15), two(0, 59)).map(([sign, h, m]) => `${sign}${h}:${m}`),
    ),
  )
  .map(([y, mo, d, h, mi, s, fraction, zone]) => `${y}-${mo}-${d}T${h}:${mi}:${s}${fraction}${zone}`);

const storable = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));

const values: readonly [ColumnType, fc.Arbitrary<unknown>][] = [
  ['text', storable],
  ['bigint', fc.maxSafeInteger()],
  ['boolean', fc.boolean()],
  ['timestamptz', timestamp],
  ['jsonb', fc.dictionary(storable, fc.oneof(storable, fc.maxSafeInteger(), fc.constant(null)))],
];

test.each(values)('%s arrives as the value that its text means', async (type, value) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(value), { maxLength: 20 }), async (list) => {
      const texts = list.map((item) =>
        item === null ? null : type === 'jsonb' ? JSON.stringify(item) : String(item),
      );
      const answer = await database.pool.query<{ same: boolean }>(
        `select $1::${type}[] is not distinct from $2::text[]::${type}[] as same`,
        [toBinaryArray(type, list), texts],
      );
      expect(answer.rows).toEqual([{ same: true }]);
    }),
  );
});

test.each(values)('arrays of %s that are joined are the array of all of their elements', (type, value) => {
  const list = fc.array(fc.option(value), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 5 }), (lists) => {
      const joined = joinBinaryArrays(lists.map((one) => toBinaryArray(type, one)));
      expect(joined).toEqual(toBinaryArray(type, lists.flat()));
    }),
  );
});

test('digits below a microsecond are rounded as Postgres rounds them', async () => {
  const texts = [
    '2026-01-01T00:00:00.1234567Z',
    '2026-01-01T00:00:00.99999999999999999999Z',
    '2026-12-31T23:59:59.9999999+05:30',
  ];
  const answer = await database.pool.query<{ same: boolean }>(
    `select $1::timestamptz[] = $2::timestamptz[] as same`,
    [toBinaryArray('timestamptz', texts), texts],
  );
  expect(answer.rows).toEqual([{ same: true }]);
});

test('an observation keeps its microseconds', async () => {
  const answer = await database.pool.query(`select unnest($1::timestamptz[]) as observed`, [
    toTimestampArray([toMicros('2026-07-01T12:34:56.789012Z'), toMicros('1969-12-31T23:59:59.999999Z')]),
  ]);
  expect(answer.rows).toEqual([
    { observed: '2026-07-01T12:34:56.789012Z' },
    { observed: '1969-12-31T23:59:59.999999Z' },
  ]);
});
