// What a process counts: under few labels, none of which the program or an identifier can choose.

import { expect, test } from 'vitest';
import { type CounterName, makeRecorder, type Recorder } from '../../../src/observe/metrics/recorder.ts';

/** Returns what is not zero, as labels → value. */
function counted(recorder: Recorder, name: CounterName): Record<string, number> {
  const samples = recorder.read('now')[name].filter(({ value }) => value !== 0);
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

const request = { method: 'GET', attempt: 1, durationMs: 500 } as const;

test('a request is counted by what it was for, whatever identifier is in its path', () => {
  const recorder = makeRecorder();
  recorder.countRequest({ ...request, path: '/v1/referrals', status: 200 });
  recorder.countRequest({ ...request, path: '/v1/commissions/one', status: 200 });
  recorder.countRequest({ ...request, path: '/v1/commissions/two', status: 200 });
  recorder.countRequest({ ...request, method: 'PUT', path: '/v1/commissions/two', status: 429 });
  recorder.countRequest({ ...request, path: '/v1/payouts/one', status: 200 });
  recorder.countRequest({ ...request, method: 'PUT', path: '/v1/payouts/one/pay', status: 200 });
  recorder.countRequest({ ...request, path: '/v1/commissions', status: null });
  recorder.countRequest({ ...request, path: '/v1/affiliates', status: 418 });
  recorder.countRequest({ ...request, path: '/v1/affiliates', status: 499 });
  expect(counted(recorder, 'requests_total')).toEqual({
    'list_referrals 200': 1,
    'read_commission 200': 2,
    'write_commission 429': 1,
    'read_payout 200': 1,
    'write_payout 200': 1,
    'list_commissions none': 1,
    'list_affiliates 4xx': 2,
  });
  expect(counted(recorder, 'request_seconds_total')).toMatchObject({ read_commission: 1 });
});

test('permits and the waits for them are counted by priority', () => {
  const recorder = makeRecorder();
  recorder.permits('payments').granted();
  recorder.permits('reads').granted();
  recorder.permits('reads').waited('window', 1500);
  recorder.permits('reads').waited('window', 500);
  expect(counted(recorder, 'permits_granted_total')).toEqual({ payments: 1, reads: 1 });
  expect(counted(recorder, 'permit_wait_seconds_total')).toEqual({ 'reads window': 2 });
});

test('rows are counted batch by batch, and a run when it ends', () => {
  const recorder = makeRecorder();
  const batch = { inserted: 2, updated: 1, unchanged: 0, rejected: 1, repeated: 0 };
  recorder.progressed({ resource: 'referrals', batch });
  recorder.progressed({ resource: 'referrals', batch });
  recorder.ended({
    resource: 'referrals',
    mode: 'full',
    state: 'partial',
    rows_deleted: 3,
    duration_ms: 2500,
  });
  expect(counted(recorder, 'rows_total')).toEqual({
    'referrals inserted': 4,
    'referrals updated': 2,
    'referrals rejected': 2,
    'referrals deleted': 3,
  });
  expect(counted(recorder, 'runs_total')).toEqual({ 'referrals full partial': 1 });
  expect(counted(recorder, 'run_seconds_total')).toEqual({ 'referrals full': 2.5 });
});

test('what is known to come begins at zero, so that its first is seen', () => {
  const recorder = makeRecorder();
  expect(recorder.read('now').requests_total).toContainEqual({
    labels: { endpoint: 'list_referrals', status: '429' },
    value: 0,
  });
  expect(recorder.read('now').runs_total).toContainEqual({
    labels: { resource: 'referrals', mode: 'full', outcome: 'failed' },
    value: 0,
  });
});
