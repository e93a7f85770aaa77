// From made-up figures to causes: which concern is one, whose it is, and of what nobody can say.

import { expect, test } from 'vitest';
import { findCauses } from '../../src/alerts/find-causes.ts';
import type { ResourceStatus } from '../../src/reports/read-freshness.ts';
import type { MirrorHealth } from '../../src/reports/read-health.ts';
import { makeGrowth } from '../reports/make-growth.ts';

const THEN = '2026-01-02T00:00:00Z';

const RESOURCE: ResourceStatus = {
  resource: 'referrals',
  fresh_as_of: THEN,
  age_seconds: 60,
  full_as_of: THEN,
  full_age_seconds: 60,
  deltas_since_full: 0,
  last_state: 'succeeded',
  last_verified: true,
  last_error_code: null,
  last_error: null,
  last_finished_at: THEN,
  last_saved_at: THEN,
  last_saved_age_seconds: 60,
  rejected_records: 0,
  rejected_since: null,
  deletes_held_back: 0,
  deletes_held_back_since: null,
  deletes_accepted: 0,
};

function figures(...resources: readonly Partial<ResourceStatus>[]): MirrorHealth {
  return {
    resources: resources.map((one) => ({ ...RESOURCE, ...one })),
    commission_list: {
      setting: 'auto',
      is_served: true,
      is_used: true,
      found_at: THEN,
      asked_at: THEN,
      problem: null,
      differences: 0,
    },
    budget: {
      used_requests: 0,
      foreign_requests: 0,
      limit_requests: null,
      paused_until: null,
      last_throttled_at: null,
    },
    payments: {
      states: [],
      failed: 0,
      failed_since: null,
      neglected: 0,
      neglected_since: null,
      last_batches: [],
    },
    books: { compared_at: null, differing: 0, differ_since: null },
    worker: { secret_refused_since: null },
  };
}

const HERE = { isQueueAway: false, maxAgeSeconds: 26 * 3600, growth: makeGrowth() };
const FAILED = { last_state: 'failed', last_error: 'of Ada' } as const;

test('all is well: no cause', () => {
  expect(findCauses(figures({}), HERE).causes).toEqual([]);
});

test('a pause that the program asked for is none', () => {
  const paused = figures({});
  expect(findCauses({ ...paused, budget: { ...paused.budget, paused_until: THEN } }, HERE).causes).toEqual(
    [],
  );
});

test('sums that differ are one, of commissions', () => {
  const given = figures({});
  const { causes } = findCauses(
    { ...given, commission_list: { ...given.commission_list, differences: 2 } },
    HERE,
  );
  expect(causes).toMatchObject([{ code: 'sums_differ', resource: 'commissions' }]);
});

test('a queue that is away comes first', () => {
  const { causes } = findCauses(figures(FAILED), { ...HERE, isQueueAway: true });
  expect(causes.map(({ code }) => code)).toEqual(['queue_away', 'sync_failed']);
});

test.each([
  ['CONTRACT_VIOLATION', 'CONTRACT_VIOLATION'],
  ['57P03', '57P03'],
  ['Ada <ada@example.com>', null],
  [null, null],
])('the code of an error, %s, is %s: nothing that might be text', (last_error_code, error_code) => {
  const { causes } = findCauses(figures({ ...FAILED, last_error_code }), HERE);
  expect(causes).toMatchObject([{ what: 'the last sync of referrals failed', error_code }]);
});

test('several resources that are stale are the same cause as one of them', () => {
  const old = { age_seconds: 27 * 3600 };
  for (const resources of [[old], [{ ...old, resource: 'affiliates' }, old]]) {
    expect(findCauses(figures(...resources), HERE).causes).toMatchObject([{ code: 'stale', resource: null }]);
  }
});

test('the bound of freshness can be chosen', () => {
  expect(findCauses(figures({}), { ...HERE, maxAgeSeconds: 59 }).causes).toMatchObject([{ code: 'stale' }]);
});

test('a sync that is under way leaves open what it may settle, and nothing else', () => {
  const { isUndecided } = findCauses(figures({ last_state: 'running' }, { resource: 'affiliates' }), HERE);
  expect(isUndecided('sync_failed', 'referrals')).toBe(true);
  expect(isUndecided('sync_failed', 'affiliates')).toBe(false);
  expect(isUndecided('stale', null)).toBe(true);
  expect(isUndecided('sums_differ', 'commissions')).toBe(false);
  expect(isUndecided('secret_refused', null)).toBe(false);
  const other = findCauses(figures({ resource: 'commissions', last_state: 'running' }), HERE);
  expect(other.isUndecided('sums_differ', 'commissions')).toBe(true);
});
