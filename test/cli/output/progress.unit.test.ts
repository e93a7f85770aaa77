import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeBudgetWaitNote } from '../../../src/cli/budget-wait.ts';
import { makeBatchProgress } from '../../../src/cli/commissions/progress.ts';
import { composeProgress, makeProgress } from '../../../src/cli/output/progress.ts';
import { readProgress } from '../../../src/cli/sync/outcome.ts';
import type { SyncProgress } from '../../../src/sync/run-summary.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const log = pino({ level: 'silent' });
const READING = {
  label: 'referrals',
  unit: 'rows',
  done: 3_120,
  total: 6_000,
  details: ['32 pages'],
  fields: {},
};
const PACE = { perSecond: 104, leftMs: 200_000 };
const WAITS = 'waiting for the request budget, 18 s';

function progressOf(seen: number, repeated = 0): SyncProgress {
  const rows = { seen, inserted: seen - repeated, updated: 0, unchanged: 0, rejected: 0, repeated };
  return { resource: 'referrals', requests: seen / 100, pages: seen / 100, rows, batch: rows, total: 6_000 };
}

test('the time that is left comes first, and what does not fit is left out from the end', () => {
  expect(composeProgress(READING, PACE, WAITS, 77)).toBe(`3 min 20 s left | referrals ███░░░ 52% | ${WAITS}`);
  expect(composeProgress(READING, PACE, null, 200)).toBe(
    `3 min 20 s left | referrals ${'█'.repeat(10)}${'░'.repeat(10)} 52% | 3,120 of 6,000 rows | 104 rows/s | 32 pages`,
  );
});

test('a wait for the budget is shown on 80 columns, however long the rest is', () => {
  for (const leftMs of [null, 3_599_000]) {
    const reading = { ...READING, label: 'affiliates', done: 6_000 };
    expect(composeProgress(reading, { ...PACE, leftMs }, WAITS, 77)).toContain(WAITS);
  }
});

test('it fits a terminal of 80 columns at any figures', () => {
  const reading = fc.record({
    label: fc.constantFrom('affiliates', 'referrals', 'requests'),
    unit: fc.constantFrom('rows', 'requests'),
    done: fc.nat(),
    total: fc.nat(),
    details: fc.array(fc.string({ maxLength: 60 }), { maxLength: 4 }),
    fields: fc.constant({}),
  });
  const pace = fc.record({ perSecond: fc.option(fc.nat()), leftMs: fc.option(fc.nat(10 ** 9)) });
  fc.assert(
    fc.property(reading, pace, fc.option(fc.constant(WAITS)), (one, measured, waits) => {
      expect(composeProgress(one, measured, waits, 77).length).toBeLessThanOrEqual(77);
    }),
  );
});

test('a sync shows what it waits for beside how far it has come, every second until it is finished', () => {
  const { stderr } = fakeTerminal(80);
  const budgetWait = makeBudgetWaitNote();
  const view = makeProgress({ budgetWait, logProgress: (fields) => log.info(fields, 'sync.progress') });
  view.show(readProgress(progressOf(100)));
  vi.advanceTimersByTime(1_000);
  view.show(readProgress(progressOf(3_100)));
  // A run that was taken up again is measured from where it was.
  expect(stderr.at(-1)).toMatch(
    /^\r\S+0 s left \| referrals █+░+ 51% \| 3,100 of 6,000 rows \| 3,000 rows\/s/,
  );
  budgetWait.note({ reason: 'pause', goesOnInMs: 25_000 });
  vi.advanceTimersByTime(2_000);
  expect(stderr.at(-1)).toMatch(/ s left \| referrals .* \| waiting for the request budget, 23 s$/);
  view.finish();
  const drawn = stderr.length;
  vi.advanceTimersByTime(2_500);
  expect(stderr).toHaveLength(drawn);
  expect(stderr.at(-1)).toBe('\r\u001B[K');
});

test('a batch shows at once that none of its requests has ended, and then in which states they are', () => {
  const { stderr } = fakeTerminal(120);
  const view = makeBatchProgress(4, { log, budgetWait: makeBudgetWaitNote() });
  expect(stderr.at(-1)).toMatch(/time left: \? \| requests ░+ 0% \| 0 of 4 requests \| 4 pending$/);
  vi.advanceTimersByTime(1_000);
  view.show({ applied: 1, pending: 3 });
  expect(stderr.at(-1)).toMatch(
    /3\.0 s left \| requests █+░+ 25% \| 1 of 4 requests \| 1 requests\/s \| 1 applied, 3 pending$/,
  );
  view.finish();
});

test('without a terminal, a line is logged every few seconds, not at every batch', () => {
  fakeTerminal(Number.POSITIVE_INFINITY);
  const lines: unknown[] = [];
  const written = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const view = makeProgress({
    budgetWait: makeBudgetWaitNote(),
    logProgress: (fields) => written.info(fields, 'sync.progress'),
  });
  for (let seen = 0; seen <= 1_200; seen += 100) {
    view.show(readProgress(progressOf(seen, seen === 1_200 ? 100 : 0)));
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toMatchObject([
    {
      msg: 'sync.progress',
      resource: 'referrals',
      rows: 500,
      total: 6_000,
      rows_per_second: 100,
      seconds_left: 55,
    },
    { rows: 1_000, rows_per_second: 100, seconds_left: 50 },
  ]);
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
