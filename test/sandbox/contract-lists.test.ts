// api-contract.md: Pagination envelope, Limits, Conventions 2 to 4.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listEnvelopeSchema } from '../../src/contract/answer-bodies.ts';
import { createTestDatabase } from '../support/database.ts';
import { fieldsOf, runSandbox, type TestSandbox } from './running-sandbox.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  const { pool } = await createTestDatabase();
  sandbox = await runSandbox(pool);
});
afterAll(() => sandbox.close());

const LISTS = ['/v1/referrals', '/v1/affiliates'] as const;

describe('Pagination envelope', () => {
  it('"an object with two root keys", pagination with all seven fields and data', async () => {
    for (const list of LISTS) {
      const body = await sandbox.get(list);
      expect(fieldsOf(body)).toEqual(['data', 'pagination']);
      expect(fieldsOf(listEnvelopeSchema.parse(body).pagination)).toEqual([
        'count',
        'current_page',
        'limit',
        'next_page',
        'previous_page',
        'total_count',
        'total_pages',
      ]);
    }
  });

  it('gives the figures of the example relation: total over limit, previous, next and count', async () => {
    const middle = await sandbox.referrals('?limit=50&page=2');
    expect(middle.pagination).toEqual({
      previous_page: 1,
      current_page: 2,
      next_page: 3,
      count: 50,
      limit: 50,
      total_pages: 16,
      total_count: 800,
    });
    expect(middle.data).toHaveLength(50);
    const last = await sandbox.affiliates('?limit=50&page=2');
    expect(last.pagination).toEqual({
      previous_page: 1,
      current_page: 2,
      next_page: null,
      count: 10,
      limit: 50,
      total_pages: 2,
      total_count: 60,
    });
  });

  it('"null when there is none": the first page has no previous page, an only page no next one', async () => {
    const body = await sandbox.affiliates('?limit=100');
    expect(body.pagination).toMatchObject({ previous_page: null, next_page: null, total_pages: 1 });
  });

  it('a page beyond the last is empty and points back to the last one that exists', async () => {
    const beyond = await sandbox.affiliates('?limit=50&page=9');
    expect(beyond).toEqual({
      pagination: {
        previous_page: 2,
        current_page: 9,
        next_page: null,
        count: 0,
        limit: 50,
        total_pages: 2,
        total_count: 60,
      },
      data: [],
    });
    const far = await sandbox.affiliates('?page=99999999999999999999');
    expect(far.data).toEqual([]);
  });

  it('an empty list has no pages', async () => {
    const body = await sandbox.affiliates('?email=nobody@example.com');
    expect(body.pagination).toEqual({
      previous_page: null,
      current_page: 1,
      next_page: null,
      count: 0,
      limit: 25,
      total_pages: 0,
      total_count: 0,
    });
  });
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
  });

  it('a page boundary may fall inside a tie: nothing is shown twice or left out', async () => {
    const fields = {
      conversion_state: 'lead',
      customer_email: 'tied@example.com',
      created_at: '2026-10-05T00:00:00.000Z',
    };
    const inserted: string[] = [];
    for (let made = 0; made < 40; made += 1) inserted.push((await sandbox.program.insertReferral(fields)).id);
    const shown: string[] = [];
    for (let page = 1; page <= 6; page += 1) {
      const { data } = await sandbox.referrals(`?email=tied@example.com&limit=7&page=${page}`);
      shown.push(...data.map(({ id }) => id));
    }
    expect(shown).toEqual(inserted.toSorted().reverse());
    for (const id of inserted) await sandbox.program.deleteReferral(id);
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

  it('3. "One object: expand=<object>. Several: expand[]=<object>&expand[]=<object>"', async () => {
    const fields = async (query: string) => fieldsOf((await sandbox.affiliates(`?limit=1${query}`)).data[0]);
    const plain = await fields('');
    const plus = (...more: string[]) => [...plain, ...more].sort();
    expect(await fields('&expand=links')).toEqual(plus('links'));
    expect(await fields('&expand[]=links')).toEqual(plus('links'));
    expect(await fields('&expand[]=campaign&expand[]=links')).toEqual(plus('campaign', 'links'));
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

  it('"An unknown parameter such as per_page is silently ignored" (Paging)', async () => {
    expect(await sandbox.referrals('?per_page=3&sort=created_at')).toEqual(await sandbox.referrals());
  });
});
