import { expect, test } from 'vitest';
import { countRefused, leastSeconds, shareOfLimit } from './limit-use.ts';

const LIMIT = '2/10';

test('requests of one window go at once, and those of each later one when the one before has passed', () => {
  expect([1, 2, 3, 4, 5].map((requests) => leastSeconds(requests, LIMIT))).toEqual([0, 0, 10, 10, 20]);
});

test('the share of a limit is all of it where every window is used as soon as it begins', () => {
  expect(shareOfLimit([0, 0, 10_000, 10_000, 20_000], LIMIT)).toBe(100);
  expect(shareOfLimit([0, 0, 10_000, 10_000, 40_000], LIMIT)).toBe(50);
});

test('a request is refused that is one too many in any span of time, and does not count against later ones', () => {
  expect(countRefused([0, 9_000, 10_000, 19_000], LIMIT)).toBe(0);
  expect(countRefused([0, 9_000, 9_999, 10_000], LIMIT)).toBe(1);
});
