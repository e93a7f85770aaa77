// From made-up figures to causes: which concern is one, whose it is, and of what nobody can say.

import { expect, test } from 'vitest';
import { findCauses } from '../../../src/observe/alerts/rules.ts';
import type { ResourceStatus } from '../../../src/reports/read-freshness.ts';
import type { MirrorHealth } from '../../../src/reports/read-health.ts';
import { makeGrowth } from '../../reports/make-growth.ts';
import { makeHealth, THEN } from '../../reports/make-health.ts';

function figures(...resources: readonly Partial<ResourceStatus>[]): MirrorHealth {
  return makeHealth({ resources });
}

const HERE = { isQueueAway: false, maxAgeSeconds: 26 * 3600, growth: makeGrowth() };
const FAILED = { last_run_state: 'failed', last_run_error: 'of Ada' } as const;

test('a pause that the program asked for is none', () => {
  const paused = figures({});
  expect(findCauses({ ...paused, budget: { ...paused.budget, paused_until: THEN } }, HERE).causes).toEqual(
    [],
  );
});

test('sums that differ are one, of commissions', () => {
  const given = figures({});
  const { causes } = findCauses({ ...given, commission_differences: 2 }, HERE);
  expect(causes).toMatchObject([{ code: 'sums_differ', resource: 'commissions' }]);
});

test.each([
  ['CONTRACT_VIOLATION', 'CONTRACT_VIOLATION'],
  ['57P03', '57P03'],
  ['Ada <ada@example.com>', null],
  [null, null],
])('the code of an error, %s, is %s: nothing that might be text', (last_run_error_code, error_code) => {
  const { causes } = findCauses(figures({ ...FAILED, last_run_error_code }), HERE);
  expect(causes).toMatchObject([{ what: 'the last sync of referrals failed', error_code }]);
});

test('a sync that is under way leaves open what it may settle, and nothing else', () => {
  const { isUndecided } = findCauses(
    figures({ last_run_state: 'running' }, { resource: 'affiliates' }),
    HERE,
  );
  expect(isUndecided('sync_failed', 'referrals')).toBe(true);
  expect(isUndecided('sync_failed', 'affiliates')).toBe(false);
  expect(isUndecided('stale', null)).toBe(true);
  expect(isUndecided('sums_differ', 'commissions')).toBe(false);
  expect(isUndecided('secret_refused', null)).toBe(false);
  const other = findCauses(figures({ resource: 'commissions', last_run_state: 'running' }), HERE);
  expect(other.isUndecided('sums_differ', 'commissions')).toBe(true);
});
