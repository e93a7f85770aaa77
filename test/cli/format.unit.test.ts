import { expect, test } from 'vitest';
import { formatCount, formatDuration, formatInstant } from '../../src/cli/format.ts';

test.each([
  [0, '0.0 s'],
  [449, '0.4 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_499, '59 s'],
  [59_500, '1 min 0 s'],
  [200_000, '3 min 20 s'],
  [3_599_500, '1 h 0 min'],
  [18_120_000, '5 h 2 min'],
  [86_400_000, '1 d 0 h'],
  [273_600_000, '3 d 4 h'],
])('a duration of %i ms reads %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('a count is grouped by thousands', () => {
  expect(formatCount(1_234_567)).toBe('1,234,567');
});

test('an instant reads to the second, in UTC', () => {
  expect(formatInstant('2026-01-02T03:04:05.678901Z')).toBe('2026-01-02 03:04:05Z');
});
