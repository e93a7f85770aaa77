// The names of exports that are beside each other.

import { expect, test } from 'vitest';
import { nameDirectory } from '../../src/exports/export-relation.ts';

test.each([
  ['2026-11-22T23:20:39.914081Z', 'export=20261122T232039914081Z'],
  ['2026-11-22T23:20:39.91408Z', 'export=20261122T232039914080Z'],
  ['2026-11-22T23:20:39Z', 'export=20261122T232039000000Z'],
])('an export of %s is named to the microsecond: %s', (asOf, name) => {
  expect(nameDirectory(asOf)).toBe(name);
});
