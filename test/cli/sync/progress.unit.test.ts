import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { makeProgressLog } from '../../../src/cli/sync/progress.ts';
import type { SyncProgress } from '../../../src/sync/run-summary.ts';

afterEach(() => {
  vi.useRealTimers();
});

function progressOf(seen: number, repeated = 0): SyncProgress {
  const rows = { seen, inserted: seen - repeated, updated: 0, unchanged: 0, rejected: 0, repeated };
  return { resource: 'referrals', requests: seen / 100, pages: seen / 100, rows, batch: rows, total: 5_000 };
}

test('without a terminal, a line is logged every few seconds, not at every batch', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const lines: unknown[] = [];
  const view = makeProgressLog({ log: pino({}, { write: (line) => lines.push(JSON.parse(line)) }) }, null);
  for (let seen = 0; seen <= 1_200; seen += 100) {
    view.show(progressOf(seen, seen === 1_200 ? 100 : 0));
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toMatchObject([
    {
      msg: 'sync.progress',
      resource: 'referrals',
      rows: 500,
      total: 5_000,
      rows_per_second: 100,
      seconds_left: 45,
    },
    { rows: 1_000, rows_per_second: 100, seconds_left: 40 },
  ]);
});
