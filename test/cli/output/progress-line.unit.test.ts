import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeBudgetWaitNote } from '../../../src/cli/budget-wait.ts';
import { composeProgress, startProgressLine } from '../../../src/cli/output/progress-line.ts';
import { makeProgressView } from '../../../src/cli/sync/progress.ts';
import type { SyncProgress } from '../../../src/sync/run-summary.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const READING = {
  leftMs: 200_000,
  label: 'referrals',
  share: 0.52,
  details: ['waiting for the request budget, 18 s', '3,120 of 6,000 rows', '104 rows/s', '32 pages'],
};

test('the time that is left comes first, and what does not fit is left out from the end', () => {
  expect(composeProgress(READING, 77)).toBe(
    '3 min 20 s left | referrals ███░░░ 52% | waiting for the request budget, 18 s',
  );
  expect(composeProgress(READING, 200)).toBe(
    `3 min 20 s left | referrals ${'█'.repeat(10)}${'░'.repeat(10)} 52% | ${READING.details.join(' | ')}`,
  );
});

test('a wait for the budget is shown on 80 columns, however long the rest is', () => {
  const [waits = ''] = READING.details;
  for (const leftMs of [null, 3_599_000]) {
    const line = composeProgress({ ...READING, leftMs, label: 'affiliates', share: 1 }, 77);
    expect(line).toContain(waits);
  }
});

test('it fits a terminal of 80 columns at any figures', () => {
  const reading = fc.record({
    leftMs: fc.option(fc.integer({ min: 0, max: 10 ** 9 })),
    label: fc.constantFrom('affiliates', 'referrals', 'made up'),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    details: fc.array(fc.string({ maxLength: 60 }), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(reading, (one) => {
      expect(composeProgress(one, 77).length).toBeLessThanOrEqual(77);
    }),
  );
});

test('the line is drawn again every second, until it is finished', () => {
  const { stderr } = fakeTerminal(80);
  const line = startProgressLine(() => READING);
  vi.advanceTimersByTime(2_500);
  expect(stderr).toHaveLength(3);
  line.finish();
  vi.advanceTimersByTime(2_500);
  expect(stderr).toHaveLength(4);
  expect(stderr.at(-1)).toBe('\r\u001B[K');
});

test('a wait for the budget is shown with the seconds that are left of it, and is gone when it is over', () => {
  const wait = makeBudgetWaitNote();
  expect(wait.read()).toBe(null);
  wait.note({ reason: 'window', goesOnInMs: 18_000 });
  expect(wait.read()).toBe('waiting for the request budget, 18 s');
  vi.advanceTimersByTime(16_500);
  expect(wait.read()).toBe('waiting for the request budget, 2 s');
  vi.advanceTimersByTime(1_600);
  expect(wait.read()).toBe(null);
});

test('a short wait is no news, unless one follows the other', () => {
  const wait = makeBudgetWaitNote();
  const read: (string | null)[] = [];
  for (let time = 0; time < 1_500; time += 250) {
    wait.note({ reason: 'payments', goesOnInMs: null });
    read.push(wait.read());
    vi.advanceTimersByTime(250);
  }
  expect(read.slice(0, 4)).toEqual([null, null, null, null]);
  expect(read.at(-1)).toBe('waiting for the request budget');
});

test('a sync shows what it waits for beside how far it has come', () => {
  const { stderr } = fakeTerminal(80);
  const budgetWait = makeBudgetWaitNote();
  const view = makeProgressView({ budgetWait }, { requests: 45, windowSeconds: 30 });
  const progressOf = (seen: number): SyncProgress => {
    const rows = { seen, inserted: seen, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };
    return {
      resource: 'referrals',
      requests: seen / 100,
      pages: seen / 100,
      rows,
      batch: rows,
      total: 6_000,
    };
  };
  view.show(progressOf(100));
  vi.advanceTimersByTime(1_000);
  view.show(progressOf(3_100));
  expect(stderr.at(-1)).toMatch(
    /^\r\S+19 s left \| referrals █+░+ 51% \| 3,100 of 6,000 rows \| 3,000 rows\/s/,
  );
  budgetWait.note({ reason: 'pause', goesOnInMs: 25_000 });
  vi.advanceTimersByTime(2_000);
  expect(stderr.at(-1)).toMatch(/left \| referrals .* \| waiting for the request budget, 23 s$/);
  view.finish();
});
