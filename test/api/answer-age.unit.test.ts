// By how much an answer is older than its question, as its headers say it.

import { expect, test } from 'vitest';
import { measureAge } from '../../src/api/answer-age.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

/** Returns the age of an answer that took so long, with these headers. */
function ageOf(headers: Record<string, string>, tookMs = 20, method: 'GET' | 'PUT' = 'GET') {
  return measureAge({ method }, { headers, sentAtMs: NOW, headersAtMs: NOW + tookMs });
}

test.each([
  ['nothing', {}, 20],
  ['an Age of 0', { age: '0' }, 20],
  ['an Age that the answer took: the program may have given it meanwhile', { age: '3' }, 3000],
  ['an Age that is none', { age: 'a while' }, 20],
  ['an old Date, which may be that of a wrong clock', { date: 'Mon, 01 Jan 2001 00:00:00 GMT' }, 20],
] as const)('is nothing where the headers say %s', (_, headers, tookMs) => {
  expect(ageOf(headers, tookMs)).toBe(0);
});

test('is what Age says, to the whole second above, less what the answer took', () => {
  expect(ageOf({ age: '1' }, 200)).toBe(1800);
  expect(ageOf({ age: '300' }, 0)).toBe(301_000);
});

test('is a year at most, so that it can be taken off any time', () => {
  expect(ageOf({ age: '999999999999' })).toBe(365 * 24 * 3_600_000);
});

test('is nothing for a write, which no cache answers', () => {
  expect(ageOf({ age: '300' }, 0, 'PUT')).toBe(0);
});
