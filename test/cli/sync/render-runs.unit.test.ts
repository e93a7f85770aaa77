import { expect, test } from 'vitest';
import { describeDoubts, isDoubtful, renderRuns } from '../../../src/cli/sync/render-runs.ts';
import type { RunSummary } from '../../../src/sync/run-summary.ts';

function makeRun(fields: Partial<RunSummary> = {}): RunSummary {
  return {
    id: 7,
    resource: 'referrals',
    mode: 'full',
    state: 'succeeded',
    error_code: null,
    reason: null,
    started_at: '2026-01-01T00:00:00Z',
    finished_at: '2026-01-01T00:00:01Z',
    is_resumed: false,
    requests: 51,
    pages: 50,
    rows_seen: 5_000,
    rows_inserted: 10,
    rows_updated: 20,
    rows_unchanged: 4_970,
    rows_rejected: 0,
    rows_repeated: 0,
    rows_deleted: 3,
    deletes_held_back: 0,
    total_upstream: 5_000,
    distinct_seen: 5_000,
    verified: true,
    plan: null,
    duration_ms: 1_234,
    ...fields,
  };
}

test.each([
  [
    'partial',
    makeRun({
      state: 'partial',
      verified: false,
      distinct_seen: 4_990,
      reason: 'unverified because its total swings',
    }),
    /unverified because its total swings \(4,990 records seen.*5,000\); nothing was marked deleted: sync again/,
  ],
  ['rejected rows', makeRun({ rows_rejected: 1_000 }), /1,000 rejected.*rejected_records/],
  ['skipped', makeRun({ state: 'skipped', reason: 'run 6 is at it' }), /not synced: run 6 is at it/],
])('a run with %s says so, and how to go on', (_, run, sentence) => {
  expect(describeDoubts(run)).toEqual([expect.stringMatching(sentence)]);
  // What another process does is nothing to look at here.
  expect(isDoubtful(run)).toBe(run.state !== 'skipped');
});

test('the table shows the counts and whether they were verified', () => {
  expect(describeDoubts(makeRun())).toEqual([]);
  expect(isDoubtful(makeRun())).toBe(false);
  const table = renderRuns([makeRun({ deletes_held_back: 162 })]);
  for (const text of ['5,000', '4,970', 'yes', '1.2 s']) expect(table).toContain(text);
  expect(table).toMatch(/held back .* 162 /);
});
