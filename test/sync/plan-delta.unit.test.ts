import { describe, expect, test } from 'vitest';
import type { CounterChange } from '../../src/mirror/runs/covered-counters.ts';
import { findMoved, planDelta } from '../../src/sync/plan-delta.ts';

const NONE = { visitors: 0, leads: 0, conversions: 0 };

function affiliate(fields: Partial<CounterChange>): CounterChange {
  return { affiliate_id: 'a', covered: NONE, current: NONE, explained: NONE, rows: 10, ...fields };
}

describe('an affiliate has moved', () => {
  test('not, where its counters did not change, whatever their absolute values', () => {
    const counters = { visitors: 900, leads: 30, conversions: 7 };
    expect(findMoved([affiliate({ covered: counters, current: counters })])).toEqual([]);
  });

  test('not, where new rows at the head explain the change of every counter', () => {
    const covered = { visitors: 5, leads: 2, conversions: 1 };
    const current = { visitors: 7, leads: 3, conversions: 1 };
    expect(
      findMoved([affiliate({ covered, current, explained: { visitors: 2, leads: 1, conversions: 0 } })]),
    ).toEqual([]);
  });

  test('where a referral that is not new changed its conversion state', () => {
    const moved = affiliate({
      covered: { visitors: 5, leads: 2, conversions: 1 },
      current: { visitors: 5, leads: 2, conversions: 2 },
    });
    expect(findMoved([moved])).toEqual([moved]);
  });

  test('where a new row came after the counters were read, since that could hide another change', () => {
    const moved = affiliate({
      current: { visitors: 0, leads: 1, conversions: 0 },
      explained: { visitors: 1, leads: 1, conversions: 0 },
    });
    expect(findMoved([moved])).toEqual([moved]);
  });
});

describe('the plan', () => {
  test('reads the pages of the moved affiliates where that is cheaper than the whole list', () => {
    const moved = [affiliate({ rows: 250 }), affiliate({ rows: 100 }), affiliate({ rows: 0 })];
    expect(planDelta(moved, { total: 100_000, limit: 100, wasEverRead: true, headPages: 1 })).toEqual({
      strategy: 'delta',
      moved_affiliates: 3,
      expected_requests: 1 + 5,
      full_walk_requests: 1001,
    });
  });

  test('reads the whole list where so many affiliates moved that it costs no more', () => {
    const moved = Array.from({ length: 11 }, () => affiliate({ rows: 90 }));
    expect(planDelta(moved, { total: 1000, limit: 100, wasEverRead: true, headPages: 1 }).strategy).toBe(
      'full',
    );
  });

  test('reads the whole list where what the head has left of it costs no more', () => {
    const moved = [affiliate({ rows: 590 })];
    const plan = (headPages: number) =>
      planDelta(moved, { total: 1000, limit: 100, wasEverRead: true, headPages });
    expect(plan(5)).toMatchObject({ strategy: 'delta', expected_requests: 5 + 6 });
    // The last page of the head is read again, and the head once more at the end.
    expect(plan(6)).toMatchObject({ strategy: 'full', expected_requests: 6 + 5 + 1 });
  });

  test('reads the whole list where it was never read', () => {
    const moved = [affiliate({ rows: 0 })];
    expect(planDelta(moved, { total: 1000, limit: 100, wasEverRead: false, headPages: 1 }).strategy).toBe(
      'full',
    );
  });

  test('of nothing moved costs the head alone', () => {
    expect(planDelta([], { total: 1000, limit: 100, wasEverRead: true, headPages: 1 })).toMatchObject({
      strategy: 'delta',
      expected_requests: 1,
    });
  });

  test('of an empty list costs a page of it and the head once more where it was never read', () => {
    expect(planDelta([], { total: 0, limit: 100, wasEverRead: false, headPages: 1 })).toMatchObject({
      strategy: 'full',
      expected_requests: 1 + 2,
      full_walk_requests: 2,
    });
  });
});
