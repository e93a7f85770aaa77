import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinBinaryArrays, observationMicros, toBinaryArray } from '../../src/decode/binary-array.ts';
import type { ColumnType } from '../../src/decode/mirrored-tables.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();

const two = (from: number, to: number) =>
  fc.integer({ min: from, max: to }).map((n) => String(n).padStart(2, '0'));
const timestamp = fc
  .tuple(
    fc.integer({ min: 1, max: 9999 }).map((year) => String(year).padStart(4, '0')),
    two(1, 12),
    two(1, 28),
    two(0, 23),
    two(0, 59),
    fc.oneof(
      fc.constant(''),
      two(0, 59).map((seconds) => `:${seconds}`),
      fc.tuple(two(0, 59), fc.stringMatching(/^[0-9]{1,6}$/)).map((parts) => `:${parts.join('.')}`),
    ),
    fc.oneof(
      fc.constant('Z'),
      fc
        .tuple(fc.constantFrom('+', '-'), two(0, 15), fc.constantFrom('', ':'), two(0, 59))
        .map((parts) => parts.join('')),
      fc.tuple(fc.constantFrom('+', '-'), two(0, 15)).map((parts) => parts.join('')),
    ),
  )
  .map(([y, mo, d, h, mi, seconds, zone]) => `${y}-${mo}-${d}T${h}:${mi}${seconds}${zone}`);

const storable = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));

/** The type, any value of it, and those at its edges. */
const values: readonly [ColumnType, fc.Arbitrary<unknown>, readonly unknown[]][] = [
  ['text', storable, ['', null, '\u{10ffff}', '\u0001', '"{},\\', 'NULL']],
  ['bigint', fc.maxSafeInteger(), [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -0, -1, 2 ** 32, null]],
  ['double precision', fc.double(), [0, 12.5, -1e300, Number.MIN_VALUE, null]],
  ['boolean', fc.boolean(), [null, false, true]],
  [
    'timestamptz',
    timestamp,
    [
      '0001-01-01T00:00:00Z',
      '0099-12-31T23:59:59.999999-15:59',
      '1969-12-31T23:59:59.5Z',
      '2026-01-31T09:30+0000',
      '1999-12-31T23:59:59.999999Z',
      '9999-12-31T23:59:59.999999Z',
      null,
    ],
  ],
  [
    'jsonb',
    fc.dictionary(storable, fc.oneof(storable, fc.maxSafeInteger(), fc.constant(null))),
    [{}, { '': '' }, { __proto__: null, constructor: 1 }, null],
  ],
];

test.each(values)('%s arrives as the value that its text means', async (type, value, edges) => {
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
    { examples: [[[...edges]], [[]], [[null]]] },
  );
});

test.each(values)(
  'arrays of %s that are joined are the array of all of their elements',
  (type, value, edges) => {
    const list = fc.array(fc.option(value), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 5 }), (lists) => {
        const joined = joinBinaryArrays(lists.map((one) => toBinaryArray(type, one)));
        expect(joined).toEqual(toBinaryArray(type, lists.flat()));
      }),
      { examples: [[[[...edges]]], [[[], [...edges], []]], [[[], [null]]]] },
    );
  },
);

test('digits below a microsecond are rounded as Postgres rounds them', async () => {
  const texts = [
    '2026-01-01T00:00:00.1234567Z',
    '2026-01-01T00:00:00.99999999999999999999Z',
    '2026-12-31T23:59:59.9999999+05:30',
    // Half a microsecond, below an even one and below an odd one.
    '2026-01-01T00:00:05.0000005Z',
    '2026-01-01T00:00:05.0000015Z',
    '2026-01-01T00:00:05.1234565Z',
    '2026-01-01T00:00:05.1234575Z',
  ];
  const answer = await database.pool.query<{ same: boolean }>(
    `select $1::timestamptz[] = $2::timestamptz[] as same`,
    [toBinaryArray('timestamptz', texts), texts],
  );
  expect(answer.rows).toEqual([{ same: true }]);
});

test('an observation keeps its microseconds', async () => {
  const answer = await database.pool.query(`select unnest($1::timestamptz[]) as observed`, [
    toBinaryArray('timestamptz', [
      observationMicros('2026-07-01T12:34:56.789012Z'),
      observationMicros('1969-12-31T23:59:59.999999Z'),
    ]),
  ]);
  expect(answer.rows).toEqual([
    { observed: '2026-07-01T12:34:56.789012Z' },
    { observed: '1969-12-31T23:59:59.999999Z' },
  ]);
});
