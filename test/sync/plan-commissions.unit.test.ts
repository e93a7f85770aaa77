import { expect, test } from 'vitest';
import { planFull, planMoved, planOpen } from '../../src/sync/plan-commissions.ts';

// A full walk costs 101 requests; two pages of the head were read.
const list = { total: 10_000, limit: 100, wasEverRead: true, headPages: 2, spent: 2 };

test('the list of those that are pending or due costs its pages, and one request where it is empty', () => {
  expect(planOpen(250, list)).toEqual({
    strategy: 'delta',
    open_commissions: 250,
    moved_commissions: null,
    expected_requests: 2 + 3,
    full_walk_requests: 101,
  });
  expect(planOpen(0, list)).toMatchObject({ strategy: 'delta', expected_requests: 2 + 1 });
});

test('each that moved costs a request, and one more counts for one that is gone', () => {
  const spent = { ...list, spent: 5 };
  expect(planMoved({ open: 250, moved: 0 }, spent)).toMatchObject({
    moved_commissions: 0,
    expected_requests: 5,
  });
  expect(planMoved({ open: 250, moved: 4 }, spent)).toMatchObject({
    strategy: 'delta',
    open_commissions: 250,
    moved_commissions: 4,
    expected_requests: 5 + 4 + 1,
  });
});

test('everything is read where that costs no more than what moved: it goes on behind the head', () => {
  const spent = { ...list, spent: 5 };
  expect(planMoved({ open: 250, moved: 98 }, spent).strategy).toBe('delta');
  expect(planMoved({ open: 250, moved: 99 }, spent)).toMatchObject({
    strategy: 'full',
    expected_requests: 5 + 100,
  });
});

test('everything is read where it must be, however little is pending or due', () => {
  expect(planFull(1, list)).toMatchObject({ strategy: 'full', open_commissions: 1, moved_commissions: null });
});
