// By how much an answer is older than its question: what its headers say, and what two clocks that differ do not.

import { expect, test } from 'vitest';
import { makeMeasureAge } from '../../src/api/answer-age.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

/** An answer that took so long, with these headers. */
function answer(headers: Record<string, string>, tookMs = 20) {
  return { headers, sentAtMs: NOW, headersAtMs: NOW + tookMs };
}

const dated = (agoMs: number) => answer({ date: new Date(NOW - agoMs).toUTCString() });

const neverAsked = async () => {
  throw new Error('the clock was asked for');
};

/** Measures with a program whose clock is behind by so much, and counts how often it is asked for it. */
function behind(byMs: number) {
  const measure = makeMeasureAge();
  let asked = 0;
  return {
    asked: () => asked,
    measure: (given: ReturnType<typeof answer>) =>
      measure(given, async () => {
        asked += 1;
        return dated(byMs);
      }),
  };
}

test.each([
  ['nothing', {}, 20],
  ['an Age of 0', { age: '0' }, 20],
  ['an Age that the answer took: the program may have given it meanwhile', { age: '3' }, 3000],
  ['an Age that is none', { age: 'a while' }, 20],
  ['a Date of now', { date: new Date(NOW).toUTCString() }, 20],
  [
    'a Date of some seconds ago: of a replica whose clock is not quite right',
    { date: new Date(NOW - 5000).toUTCString() },
    20,
  ],
  ['a Date that is ahead', { date: new Date(NOW + HOUR).toUTCString() }, 20],
  ['a Date that is none', { date: '-5' }, 20],
] as const)('is nothing where the headers say %s', async (_, headers, tookMs) => {
  expect(await makeMeasureAge()(answer(headers, tookMs), neverAsked)).toBe(0);
});

test('is what Age says, to the whole second above, less what the answer took', async () => {
  expect(await makeMeasureAge()(answer({ age: '1' }, 200), neverAsked)).toBe(1800);
  expect(await makeMeasureAge()(answer({ age: '300' }, 0), neverAsked)).toBe(301_000);
});

test('is a year at most, so that it can be taken off any time', async () => {
  expect(await makeMeasureAge()(answer({ age: '999999999999' }), neverAsked)).toBe(365 * 24 * HOUR);
  const ancient = answer({ date: 'Mon, 01 Jan 0001 00:00:00 GMT' });
  expect(await makeMeasureAge()(ancient, async () => dated(0))).toBe(365 * 24 * HOUR);
});

test('is what Date says, where the program has the right time', async () => {
  const { measure, asked } = behind(0);
  const ageMs = await measure(dated(HOUR));
  expect(ageMs).toBeGreaterThanOrEqual(HOUR);
  expect(ageMs).toBeLessThan(HOUR + 10_000);
  expect(await measure(dated(HOUR))).toBe(ageMs);
  expect(asked()).toBe(1);
});

test('is nothing for a Date that is as old as the clock of the program is behind, which is asked for once', async () => {
  const { measure, asked } = behind(3 * HOUR);
  expect(await measure(dated(3 * HOUR))).toBe(0);
  expect(await measure(dated(3 * HOUR + 4000))).toBe(0);
  expect(asked()).toBe(1);
});

test('is what Date says beyond that', async () => {
  const { measure } = behind(3 * HOUR);
  expect(await measure(dated(4 * HOUR))).toBeGreaterThan(HOUR - 1000);
});

test('is what Date says where the program does not say its time', async () => {
  expect(await makeMeasureAge()(dated(HOUR), async () => null)).toBeGreaterThanOrEqual(HOUR);
  expect(await makeMeasureAge()(dated(HOUR), async () => answer({}))).toBeGreaterThanOrEqual(HOUR);
});
