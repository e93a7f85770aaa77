// What an answer's Retry-After asks for, however it is spelled.

import { expect, test } from 'vitest';
import { readRetryAfter } from '../../src/contract/retry-after.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

test.each([
  [undefined, null],
  ['30', 30_000],
  [' 1.5 ', 1500],
  [['7', '8'], 7000],
  ['-5', null],
  ['soon', null],
  ['1e3', null],
  ['Sun, 01 Mar 2026 12:00:20 GMT', 20_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
])('Retry-After: %s', (header, ms) => {
  expect(readRetryAfter({ 'retry-after': header }, NOW_MS)).toBe(ms);
});

test('a date is measured by the clock of whoever named it', () => {
  const headers = { 'retry-after': 'Sun, 01 Mar 2026 15:00:20 GMT', date: 'Sun, 01 Mar 2026 15:00:00 GMT' };
  expect(readRetryAfter(headers, NOW_MS)).toBe(20_000);
});
