// The place of a program's name in the target of an export.

import { expect, test } from 'vitest';
import { targetOf } from '../../src/config/process/export-target.ts';

test('the name stands wherever the target has a place for it; without one, the target is no program’s own', () => {
  expect(targetOf('s3://bucket/{program}/', 'acme')).toBe('s3://bucket/acme/');
  expect(targetOf('exports/{program}/{program}.csv', 'acme')).toBe('exports/acme/acme.csv');
  expect(targetOf('exports/', 'acme')).toBeNull();
});
