// api-contract.md: Pagination envelope, Limits, Conventions 2 to 4.

import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { fieldsOf, runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool);

const PAGINATION = [
  'previous_page',
  'current_page',
  'next_page',
  'count',
  'limit',
  'total_pages',
  'total_count',
];

it.each([
  ['referrals', '?limit=50&page=2', [1, 2, 3, 50, 50, 16, 800]],
  ['affiliates', '?limit=50&page=2', [1, 2, null, 10, 50, 2, 60]],
  // Beyond the last page: it points back to the last one that exists.
  ['affiliates', '?limit=50&page=9', [2, 9, null, 0, 50, 2, 60]],
  ['affiliates', '?page=99999999999999999999', [3, 1e9, null, 0, 25, 3, 60]],
  ['affiliates', '?email=nobody@example.com', [null, 1, null, 0, 25, 0, 0]],
] as const)('the envelope of %s%s has %j', async (list, query, figures) => {
  const { pagination, data } = await sandbox[list](query);
  expect(pagination).toEqual(Object.fromEntries(PAGINATION.map((name, place) => [name, figures[place]])));
  expect(data).toHaveLength(figures[3]);
});

describe('Limits', () => {
  it.each([
    ['', 25],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?limit=101', 100],
    ['?limit=1000000', 100],
    ['?limit=0', 25],
    ['?limit=-1', 25],
    ['?limit=ten', 25],
    ['?limit=2.5', 25],
    ['?limit=', 25],
    ['?per_page=50', 25],
  ])('"default 25; maximum 100": %s gives a page of %i', async (query, limit) => {
    const body = await sandbox.referrals(query);
    expect(body.pagination.limit).toBe(limit);
    expect(body.data).toHaveLength(limit);
  });

  it.each(['', '?page=0', '?page=-2', '?page=first', '?page='])('%s is the first page', async (query) => {
    const body = await sandbox.referrals(query);
    expect(body.pagination.current_page).toBe(1);
  });
});

describe('Conventions', () => {
  it('4. "newest first", ties in one stable order, and no item on two pages', async () => {
    const lists = [
      [await sandbox.allReferrals(), 800],
      [await sandbox.allAffiliates(), 60],
    ] as const;
    for (const [items, total] of lists) {
      expect(new Set(items.map((item) => item.id)).size).toBe(total);
      const keys = items.map((item) => `${item.created_at} ${item.id}`);
      expect(keys).toEqual(keys.toSorted().reverse());
      expect(new Set(items.map((item) => item.created_at)).size, 'there are ties').toBeLessThan(total);
    }
    const all = await sandbox.allReferrals();
    const leads = all.filter((item) => item.conversion_state === 'lead');
    expect(await sandbox.allReferrals('conversion_state=lead')).toEqual(leads);
  });

  it('2. "name[]=a&name[]=b", a single value as "name=a" or in the array form', async () => {
    const count = async (query: string) => (await sandbox.referrals(`?${query}`)).pagination.total_count;
    const [leads, conversions] = await Promise.all([
      count('conversion_state=lead'),
      count('conversion_state=conversion'),
    ]);
    expect(leads).toBeGreaterThan(0);
    expect(conversions).toBeGreaterThan(0);
    expect(await count('conversion_state[]=lead')).toBe(leads);
    expect(await count('conversion_state%5B%5D=lead')).toBe(leads);
    expect(await count('conversion_state[]=lead&conversion_state[]=conversion')).toBe(leads + conversions);
    expect(await count('conversion_state[]=lead&conversion_state[]=lead')).toBe(leads);
  });

  it('"and, from some HTTP libraries, expand[0]=a" (Paging), but no other word in the brackets', async () => {
    const fields = async (query: string) => fieldsOf((await sandbox.affiliates(`?limit=1&${query}`)).data[0]);
    const plain = await fields('');
    const both = [...plain, 'campaign', 'links'].sort();
    expect(await fields('expand[0]=campaign&expand[1]=links')).toEqual(both);
    expect(await fields('expand%5B0%5D=campaign&expand%5B10%5D=links')).toEqual(both);
    expect(await fields('expand[0]=campaign&expand=links')).toEqual(both);
    expect(await fields('expand[x]=campaign&expand[0][0]=links&expand[-1]=links')).toEqual(plain);
  });

  it('3. "Only the objects listed for an endpoint are expandable": any other value is ignored', async () => {
    for (const [list, value] of [
      ['/v1/affiliates', 'referrals'],
      ['/v1/affiliates', 'affiliate'],
      ['/v1/referrals', 'campaign'],
      ['/v1/referrals', 'links'],
      ['/v1/referrals', 'commission_stats'],
    ]) {
      expect(await sandbox.get(`${list}?expand=${value}`)).toEqual(await sandbox.get(`${list}`));
    }
  });
});
