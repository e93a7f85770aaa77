import { expect, test } from 'vitest';
import { readRateLimit } from '../../src/config/program/rate-limit.ts';

test.each([
  ['45/30', { requests: 45, windowSeconds: 30 }],
  // As a file of variables often has it.
  [' 45/30 ', { requests: 45, windowSeconds: 30 }],
  ['none\n', null],
  ['9999999/999999.999', { requests: 9_999_999, windowSeconds: 999_999.999 }],
  ['10000000/30', undefined],
  ['0/30', undefined],
  ['45/0', undefined],
  ['45/1000000', undefined],
  ['45 / 30', undefined],
])('a rate limit, bounds included: %j', (text, limit) => {
  expect(readRateLimit(text)).toEqual(limit);
});
