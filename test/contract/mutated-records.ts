// Records that are wrong in a place or two, or only odd: what a program might send one day, well-formed JSON always.

import fc, { type Arbitrary } from 'fast-check';
import type { WireRecord } from './arbitrary-records.ts';

/** Values at the border of what a field may hold, on either side of it. */
export const ODD_VALUES: readonly unknown[] = [
  ...['', 'text', 'a\0b', '\0', '\ud800', 'a\udc00', '\udc00\ud800', '🦊', 'ü\u2028', '__proto__'],
  ...['2026-02-28T23:59:59Z', '2026-02-29T00:00:00Z', '2024-02-29T00:00:00Z', '2026-02-30T00:00:00Z'],
  ...['2026-04-31T00:00:00Z', '2026-12-31T23:59:59.999999Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z'],
  ...['2026-01-00T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T23:60:00Z', '2026-01-01T23:59:60Z'],
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0999-01-01T00:00:00Z', '3000-01-01T00:00:00Z'],
  ...['9999-12-31T23:59:59Z', '10000-01-01T00:00:00Z', '-2026-01-01T00:00:00Z', '+2026-01-01T00:00:00Z'],
  ...['2026-01-01T00:00:00+05:45', '2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00-15:59'],
  ...['2026-01-01T00:00:00+16:00', '2026-01-01T00:00:00+05', '2026-01-01T00:00:00+0545'],
  ...[
    '2026-01-01',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01t00:00:00z',
  ],
  ...['2026-01-01T00:00:00.Z', '2026-01-01T00:00:00.1234567Z', '2026-01-01T00:00:00,5Z'],
  ...['2026-01-01T00:00:00Z\n', ' 2026-01-01T00:00:00Z', '２０２６-01-01T00:00:00Z'],
  ...['0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e', '0B1A6D1E-3F9C-4A58-9B7A-0D3F3B1C2D4E'],
  ...['0b1A6d1e-3F9c-4a58-9b7a-0d3f3b1c2d4E', '00000000-0000-0000-0000-000000000000'],
  ...['0b1a6d1e3f9c4a589b7a0d3f3b1c2d4e', '{0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e}'],
  ...['0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4g', '0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e\n'],
  ...[0, -0, 1, -1, 1.5, -0.1, 1e21, 5e-324, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1 - 2 ** 53, -(2 ** 53)],
  ...[null, true, false, [], {}, [null], ['a\0b'], [{}], { id: 1 }, { name: '\ud800' }, { 'a\0b': 1 }],
  ...[{ length: 0 }, { currencies: { USD: '\0' } }, { '\udfff': {} }],
];

const NAMES = ['odd', 'name', 'a\0b', '\ud800', '🦊', 'constructor', 'toString', 'length', ''];

interface Mutation {
  /** Of all places in the record, which, from 0 to 1. */
  readonly where: number;
  readonly how: 'replace' | 'remove' | 'add';
  readonly name: string;
  readonly value: unknown;
}

const mutation: Arbitrary<Mutation> = fc.record({
  where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add'),
  name: fc.constantFrom(...NAMES),
  value: fc.constantFrom(...ODD_VALUES),
});

/** Returns the records, most of them mutated at any depth. */
export function mutated(records: Arbitrary<WireRecord>): Arbitrary<unknown> {
  return fc
    .tuple(records, fc.array(mutation, { maxLength: 2 }))
    .map(([record, mutations]) => mutations.reduce(mutate, record as unknown));
}

interface Place {
  readonly parent: Record<string, unknown>;
  readonly name: string;
}

function mutate(value: unknown, { where, how, name, value: odd }: Mutation): unknown {
  // Under a root, so that the record itself is a place like any other.
  const root = { record: structuredClone(value) };
  const places = placesIn(root);
  const place = places[Math.floor(where * places.length)];
  if (place === undefined) return value;
  const held = place.parent[place.name];
  if (how === 'add' && held !== null && typeof held === 'object' && !Array.isArray(held)) {
    (held as Record<string, unknown>)[name] = structuredClone(odd);
  } else if (how === 'remove' && place.parent !== root && !Array.isArray(place.parent)) {
    delete place.parent[place.name];
  } else {
    place.parent[place.name] = structuredClone(odd);
  }
  return root.record;
}

function placesIn(value: unknown): Place[] {
  if (value === null || typeof value !== 'object') return [];
  const parent = value as Record<string, unknown>;
  return Object.keys(parent).flatMap((name) => [{ parent, name }, ...placesIn(parent[name])]);
}
