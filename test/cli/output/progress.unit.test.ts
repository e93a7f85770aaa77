import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeBudgetWaitNote, makeProgress } from '../../../src/cli/output/progress.ts';
import { makeBatchProgress } from '../../../src/cli/payments/wait.ts';
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
function progressOf(seen: number, repeated = 0): SyncProgress {
  const rows = { seen, inserted: seen - repeated, updated: 0, unchanged: 0, rejected: 0, repeated };
  return { resource: 'referrals', requests: seen / 100, pages: seen / 100, rows, batch: rows, total: 6_000 };
}

test('a sync shows what it waits for beside how far it has come, every second until it is finished', () => {
  const { stderr } = fakeTerminal(80);
  const budgetWait = makeBudgetWaitNote();
  const view = makeProgress({ budgetWait, logProgress: (fields) => log.info(fields, 'sync.progress') });
  view.show(readProgress(progressOf(100)));
  vi.advanceTimersByTime(1_000);
  view.show(readProgress(progressOf(3_100)));
  // A run that was taken up again is measured from where it was.
  expect(stderr.at(-1)).toMatch(/^\r\S+0 s left \| referrals 51% \| 3,100 of 6,000 rows \| 3,000 rows\/s/);
  budgetWait.note({ reason: 'pause', goesOnInMs: 25_000 });
  vi.advanceTimersByTime(2_000);
  expect(stderr.at(-1)).toMatch(/ s left \| referrals 51% \| waiting for the request budget, 23 s/);
  view.finish();
  const drawn = stderr.length;
  vi.advanceTimersByTime(2_500);
  expect(stderr).toHaveLength(drawn);
  expect(stderr.at(-1)).toBe('\r\u001B[K');
});

test('a batch shows at once that none of its requests has ended, and then in which states they are', () => {
  const { stderr } = fakeTerminal(120);
  const view = makeBatchProgress(4, { log, budgetWait: makeBudgetWaitNote() });
  expect(stderr.at(-1)).toMatch(/time left: \? \| requests 0% \| 0 of 4 requests \| 4 pending$/);
  vi.advanceTimersByTime(1_000);
  view.show({ applied: 1, pending: 3 });
  expect(stderr.at(-1)).toMatch(
    /3\.0 s left \| requests 25% \| 1 of 4 requests \| 1 requests\/s \| 1 applied, 3 pending$/,
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
