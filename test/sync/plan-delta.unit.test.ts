// What a delta reads again, and when reading everything costs no more.

import { expect, test } from 'vitest';
import type { CounterChange } from '../../src/mirror/runs/covered-counters.ts';
import { findMoved, planDelta, planMoved, planOpen } from '../../src/sync/plan-delta.ts';

const counters = (visitors: number, leads: number, conversions: number) => ({ visitors, leads, conversions });
const NONE = counters(0, 0, 0);
const ofRows = (...counts: number[]): CounterChange[] =>
  counts.map((rows) => ({ affiliate_id: 'a', covered: NONE, current: NONE, explained: NONE, rows }));

test.each([
  ['counters that did not change', counters(900, 30, 7), counters(900, 30, 7), NONE, false],
  ['a change that new rows explain', counters(5, 2, 1), counters(7, 3, 1), counters(2, 1, 0), false],
  ['a referral that changed its state', counters(5, 2, 1), counters(5, 2, 2), NONE, true],
  // It could hide another change.
  ['a new row after the counters were read', NONE, counters(0, 1, 0), counters(1, 1, 0), true],
])('an affiliate with %s', (_, covered, current, explained, hasMoved) => {
  const affiliate = { affiliate_id: 'a', covered, current, explained, rows: 10 };
  expect(findMoved([affiliate])).toEqual(hasMoved ? [affiliate] : []);
});

const KNOWN = { total: 1000, limit: 100, wasEverRead: true, headPages: 1 };

test.each([
  [
    'the pages of the moved affiliates',
    ofRows(250, 100, 0),
    { ...KNOWN, total: 100_000 },
    'delta',
    1 + 5,
    1001,
  ],
  ['the whole list where they are too many', ofRows(...Array(11).fill(90)), KNOWN, 'full', 1 + 11, 11],
  ['them behind a head of five pages', ofRows(590), { ...KNOWN, headPages: 5 }, 'delta', 5 + 6, 11],
  // The last page of the head is read again, and the head once more at the end.
  ['the rest of the list behind one of six', ofRows(590), { ...KNOWN, headPages: 6 }, 'full', 6 + 5 + 1, 11],
  ['a list that was never read', ofRows(0), { ...KNOWN, wasEverRead: false }, 'full', 1 + 11, 11],
  ['the head alone where nothing moved', [], KNOWN, 'delta', 1, 11],
  ['an empty list that was never read', [], { ...KNOWN, total: 0, wasEverRead: false }, 'full', 1 + 2, 2],
] as const)('a delta of referrals reads %s', (_, moved, list, strategy, expected, full) => {
  expect(planDelta(moved, list)).toEqual({
    strategy,
    moved_affiliates: moved.length,
    expected_requests: expected,
    full_walk_requests: full,
  });
});

// A full walk costs 101 requests; two pages of the head were read.
const COMMISSIONS = { total: 10_000, limit: 100, wasEverRead: true, headPages: 2 };

test.each([
  [250, 2 + 3],
  [0, 2 + 1],
])('the list of %i open commissions costs its pages, one at least', (open, expected) => {
  expect(planOpen(open, { ...COMMISSIONS, spent: 2 })).toEqual({
    strategy: 'delta',
    open_records: open,
    moved_records: null,
    expected_requests: expected,
    full_walk_requests: 101,
  });
});

test.each([
  [0, 'delta', 5],
  // One more counts for one that is gone.
  [4, 'delta', 5 + 4 + 1],
  [98, 'delta', 5 + 98 + 1],
  [99, 'full', 5 + 100],
])('%i commissions that moved', (moved, strategy, expected) => {
  expect(planMoved({ open: 250, moved }, { ...COMMISSIONS, spent: 5 })).toMatchObject({
    strategy,
    open_records: 250,
    moved_records: moved,
    expected_requests: expected,
  });
});
