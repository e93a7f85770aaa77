// Which refusals may pass: those of something in front of the program, unless they may answer what was asked for.

import { expect, test } from 'vitest';
import { isAlwaysThere, mayPass } from '../../src/api/refusal.ts';
import { listQueryString } from '../../src/api/request-parameters.ts';
import { makeRefusal } from './make-refusal.ts';

const page = { page: 1, limit: 100 };

function get(path: string, query = '') {
  return { method: 'GET', path, query, body: null } as const;
}

const AFFILIATES = get('/v1/affiliates', listQueryString<'affiliates'>({ ...page, expand: ['links'] }));
const OF_ONE = get(
  '/v1/referrals',
  listQueryString<'referrals'>({ ...page, filters: { affiliate_id: 'a' } }),
);
const OF_STATES = get(
  '/v1/referrals',
  listQueryString<'referrals'>({ ...page, filters: { conversion_state: ['lead', 'conversion'] } }),
);
const COMMISSIONS = get('/v1/commissions', listQueryString<'commissions'>(page));
const COMMISSION = get('/v1/commissions/c');

test('every program has its affiliates and its referrals, and perhaps not those that a filter asks for', () => {
  expect([AFFILIATES, get('/v1/referrals')].map(isAlwaysThere)).toEqual([true, true]);
  expect([OF_ONE, OF_STATES, COMMISSIONS, COMMISSION].map(isAlwaysThere)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test.each([
  ['a redirect', makeRefusal('302', 302, false), [true, true, true, true]],
  ['a web page with 403', makeRefusal('403', 403, false), [true, true, true, true]],
  ['a web page with 404', makeRefusal('404', 404, false), [true, false, false, false]],
  ["the program's own 404", makeRefusal('404', 404), [false, false, false, false]],
  ["the program's own 422", makeRefusal('422', 422), [false, false, false, false]],
  ['another error', new Error('a bug'), [false, false, false, false]],
])('%s', (_what, error, passes) => {
  expect([AFFILIATES, OF_ONE, COMMISSIONS, COMMISSION].map((request) => mayPass(error, request))).toEqual(
    passes,
  );
});
