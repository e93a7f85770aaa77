import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makePace } from '../../../src/cli/output/pace.ts';
import type { SyncProgress } from '../../../src/sync/run-summary.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function progressOf(seen: number): SyncProgress {
  const rows = { seen, inserted: seen, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };
  return { resource: 'referrals', requests: seen / 100, pages: seen / 100, rows, batch: rows, total: 50_000 };
}

test('a run that was taken up again is measured from where it was', () => {
  const pace = makePace(null);
  expect(pace.read(progressOf(40_000))).toEqual({ done: 40_000, rowsPerSecond: null, leftMs: null });
  vi.advanceTimersByTime(1_000);
  expect(pace.read(progressOf(41_000))).toEqual({ done: 41_000, rowsPerSecond: 1_000, leftMs: 9_000 });
});

test('while nothing arrives, the pace falls', () => {
  const pace = makePace(null);
  pace.read(progressOf(100));
  vi.advanceTimersByTime(1_000);
  expect(pace.read(progressOf(1_100)).rowsPerSecond).toBe(1_000);
  vi.advanceTimersByTime(9_000);
  expect(pace.read(progressOf(1_100)).rowsPerSecond).toBe(100);
});

test('what is left never takes less than the budget allows', () => {
  const pace = makePace({ requests: 45, windowSeconds: 30 });
  pace.read(progressOf(500));
  vi.advanceTimersByTime(1_000);
  // 455 pages are left: ten windows and a bit, whatever the speed of the first ones.
  expect(pace.read(progressOf(4_500)).leftMs).toBeCloseTo((455 / 45) * 30_000);
});
