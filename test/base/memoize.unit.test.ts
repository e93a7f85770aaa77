// Readings that take long are kept, and shared by whoever asks meanwhile; quick and failed ones are not.

import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { inProportion, memoize } from '../../src/base/memoize.ts';

/** How long the next reading takes, in milliseconds. */
let tookMs: number;
let readings: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  tookMs = 100;
  readings = 0;
});

const read = async () => {
  await Promise.resolve();
  vi.advanceTimersByTime(tookMs);
  readings += 1;
  return readings;
};

/** Lets a reading that nobody waits for come to its end. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a slow result is kept for a hundred times as long as it took, also where a clock is put back', async () => {
  const ask = memoize(read);
  expect(await ask()).toBe(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(9_900);
  expect(await ask()).toBe(1);
  await settle();
  expect(readings).toBe(1);
});

test('for as long again, nobody waits for the next reading; after that, everybody does', async () => {
  const ask = memoize(read);
  await ask();
  vi.advanceTimersByTime(10_100);
  expect(await ask()).toBe(1);
  await settle();
  expect(await ask()).toBe(2);
  vi.advanceTimersByTime(20_100);
  expect(await ask()).toBe(3);
});

test('a quick result is read anew, and shared by whoever asks meanwhile', async () => {
  tookMs = 10;
  const ask = memoize(read);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  expect(await ask()).toBe(2);
  expect(inProportion(10)).toBe(0);
});

test('a failure is thrown to everybody who waits for it, and not kept', async () => {
  let isAway = true;
  const ask = memoize(
    () => (isAway ? Promise.reject(new Error('away')) : read()),
    () => 1000,
  );
  const both = await Promise.allSettled([ask(), ask()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isAway = false;
  expect(await ask()).toBe(1);
});

test('once the next reading failed, the former result is gone', async () => {
  let isAway = false;
  const ask = memoize(
    () => (isAway ? Promise.reject(new Error('away')) : read()),
    () => 1000,
  );
  expect(await ask()).toBe(1);
  isAway = true;
  vi.advanceTimersByTime(1500);
  expect(await ask()).toBe(1);
  await settle();
  await expect(ask()).rejects.toThrow('away');
});
