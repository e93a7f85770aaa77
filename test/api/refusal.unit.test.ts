// Which lists every API has.

import { expect, test } from 'vitest';
import { isAlwaysThere } from '../../src/api/refusal.ts';
import { listQueryString } from '../../src/api/request-parameters.ts';

const page = { page: 1, limit: 100 };

function get(path: string, query = '') {
  return { method: 'GET', path, query, body: null } as const;
}

test.each([
  [true, get('/v1/affiliates', listQueryString<'affiliates'>({ ...page, expand: ['links'] }))],
  [true, get('/v1/referrals')],
  [false, get('/v1/referrals', listQueryString<'referrals'>({ ...page, filters: { affiliate_id: 'a' } }))],
  [
    false,
    get('/v1/referrals', listQueryString<'referrals'>({ ...page, filters: { conversion_state: ['lead'] } })),
  ],
  [false, get('/v1/commissions', listQueryString<'commissions'>(page))],
  [false, get('/v1/commissions/c')],
])('%s: every program has %o', (isThere, request) => {
  expect(isAlwaysThere(request)).toBe(isThere);
});
