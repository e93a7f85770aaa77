// GET /v1/commissions (contract, A list of commissions), where the sandbox is asked to serve it and where it is not.

import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
import { CAMPAIGN_FIELDS, COMMISSION_FIELDS, SALE_FIELDS } from './contract-fields.ts';
import { AUTHORIZATION, fieldsOf, runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let sandbox: TestSandbox;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
  sandbox = await runSandbox(pool, { optionalLists: ['commissions'] });
});
afterAll(() => sandbox.close());

const OWN_FIELDS = COMMISSION_FIELDS.filter((name) => name !== 'campaign' && name !== 'sale');

async function idsInOrder(condition: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from sandbox.commissions where ${condition} order by created_at desc, id desc`,
  );
  return rows.map(({ id }) => id);
}
const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id);
const totalOf = async (query: string) => (await sandbox.commissions(`?${query}`)).pagination.total_count;

describe('The list of commissions', () => {
  it.each(['neutral', 'live'] as const)(
    '"Where it is not served, the answer is 404": %s, unless it is asked for, with no word of it in /openapi.json',
    async (spelling) => {
      const plain = await runSandbox(pool, { schema: spelling, spelling });
      const answer = await plain.send('GET', '/v1/commissions?limit=1');
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.text)).toEqual({ error: 'Route not found: GET /v1/commissions?limit=1' });
      expect(JSON.stringify(await plain.get('/openapi.json'))).not.toContain('listCommissions');
      await plain.close();
    },
  );

  it('needs the secret, and counts against the limit', async () => {
    const unauthorized = await sandbox.send('GET', '/v1/commissions', { headers: {} });
    expect(unauthorized.status).toBe(401);
    sandbox.setRateLimit({ requests: 1, windowSeconds: 600 });
    const answers = [
      await sandbox.send('GET', '/v1/commissions?limit=1'),
      await sandbox.send('GET', '/v1/commissions?limit=1'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 429]);
    expect(answers[0]?.headers['ratelimit-limit']).toBe('1');
    sandbox.setRateLimit(null);
  });

  it('shows every commission once, newest first, with `state` and `voided_at`', async () => {
    const items = await sandbox.allCommissions();
    expect(ids(items)).toEqual(await idsInOrder('true'));
    expect(items.length).toBeGreaterThan(100);
    for (const item of items) {
      expect(fieldsOf(item)).toEqual([...OWN_FIELDS, 'state', 'voided_at'].sort());
      expect(item.voided_at !== null).toBe(item.state === 'voided');
    }
  });

  it('has the envelope, the default limit and the maximum of the other lists', async () => {
    const total = await totalOf('');
    expect((await sandbox.commissions()).pagination).toEqual({
      previous_page: null,
      current_page: 1,
      next_page: 2,
      count: 25,
      limit: 25,
      total_pages: Math.ceil(total / 25),
      total_count: total,
    });
    expect((await sandbox.commissions('?limit=1000')).pagination.limit).toBe(100);
    expect((await sandbox.commissions('?limit=100&page=99')).data).toEqual([]);
  });

  it('affiliate_id: only commissions of that affiliate', async () => {
    const { rows } = await pool.query<{ affiliate_id: string }>(
      'select affiliate_id from sandbox.commissions group by 1 order by count(*) desc limit 1',
    );
    const affiliateId = rows[0]?.affiliate_id ?? '';
    const expected = await idsInOrder(`affiliate_id = '${affiliateId}'`);
    expect(ids(await sandbox.allCommissions(`affiliate_id=${affiliateId}`))).toEqual(expected);
    const due = await idsInOrder(`affiliate_id = '${affiliateId}' and state = 'paid'`);
    expect(ids(await sandbox.allCommissions(`affiliate_id=${affiliateId}&state=paid`))).toEqual(due);
    expect(due.length).toBeGreaterThan(0);
    expect(due.length).toBeLessThan(expected.length);
    expect(await totalOf('affiliate_id=nobody')).toBe(0);
    expect(await totalOf('affiliate_id=')).toBe(await totalOf(''));
  });

  it.each([
    ['state=due', ['due']],
    ['state[]=due', ['due']],
    ['state[]=due&state[]=pending', ['due', 'pending']],
    ['state[0]=paid&state[1]=voided', ['paid', 'voided']],
    ['state=paid&state=voided', ['paid', 'voided']],
    ['state=pending&state=pending', ['pending']],
    ['state=lost', []],
  ])('state, "repeatable": %s', async (query, states) => {
    const expected = await idsInOrder(`state = any('{${states.join(',')}}')`);
    expect(ids(await sandbox.allCommissions(query))).toEqual(expected);
    expect(await totalOf(query)).toBe(expected.length);
  });

  it('expand[]=sale and expand[]=campaign: then each item is what its own address answers', async () => {
    const only = async (query: string) => fieldsOf((await sandbox.commissions(`?limit=1&${query}`)).data[0]);
    expect(await only('expand=campaign')).toEqual([...OWN_FIELDS, 'campaign', 'state', 'voided_at'].sort());
    expect(await only('expand[]=sale')).toEqual([...OWN_FIELDS, 'sale', 'state', 'voided_at'].sort());
    expect(await only('expand=affiliate')).toEqual([...OWN_FIELDS, 'state', 'voided_at'].sort());
    const { data } = await sandbox.commissions('?limit=100&expand[]=sale&expand[]=campaign');
    for (const item of data) {
      expect(fieldsOf(item.campaign)).toEqual(CAMPAIGN_FIELDS);
      expect(fieldsOf(item.sale)).toEqual(SALE_FIELDS);
      expect(item).toEqual(await sandbox.commission(item.id));
    }
  });

  it('a commission that is paid moves from one state to the other, in the list and in its totals', async () => {
    const [before] = (await sandbox.commissions('?state=due&limit=1')).data;
    const counted = async () => [await totalOf('state=due'), await totalOf('state=paid'), await totalOf('')];
    const [due = 0, paid = 0, all = 0] = await counted();
    const { status, body } = await sandbox.put(before?.id ?? '', 'paid_at=2026-05-04T00:00:00Z');
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'paid', voided_at: null });
    expect(await counted()).toEqual([due - 1, paid + 1, all]);
    expect(ids(await sandbox.allCommissions('state=due'))).not.toContain(before?.id);
    await sandbox.put(before?.id ?? '', 'paid_at=');
    expect(await counted()).toEqual([due, paid, all]);
  });

  it('one that comes pushes the pages back, one that goes pulls them forward', async () => {
    const page = async (number: number) => ids((await sandbox.commissions(`?limit=10&page=${number}`)).data);
    const [first, second] = [await page(1), await page(2)];
    const referral = await sandbox.program.insertReferral({ conversion_state: 'conversion' });
    const { commission } = await sandbox.program.insertSale(referral.id);
    expect(await page(1)).toEqual([commission.id, ...first.slice(0, 9)]);
    expect(await page(2)).toEqual([first[9], ...second.slice(0, 9)]);
    await sandbox.program.deleteCommission(commission.id);
    expect([await page(1), await page(2)]).toEqual([first, second]);
  });

  it('many payments at once, while the program lives, wait for each other and leave the totals right', async () => {
    const { data } = await sandbox.commissions('?limit=40&state=due');
    const statuses = await Promise.all([
      ...data.map(async ({ id }) => (await sandbox.put(id, 'paid_at=2026-05-04T00:00:00Z')).status),
      ...data.slice(0, 10).map(async () => (await sandbox.live.step()).kind),
      ...data.slice(30).map(async ({ id }) => sandbox.program.updateCommission(id, { state: 'paid' })),
    ]);
    expect(statuses.slice(0, 40)).toEqual(Array.from({ length: 40 }, () => 200));
    for (const state of ['pending', 'due', 'paid', 'voided']) {
      expect(await totalOf(`state=${state}`), state).toBe((await idsInOrder(`state = '${state}'`)).length);
    }
  });

  it('a payment waits, holding nothing, for a change of several records that has begun', async () => {
    const { rows } = await pool.query<{ first: string; second: string }>(
      `select min(id) as first, max(id) as second from sandbox.commissions where state = 'paid'
        group by (created_at at time zone 'UTC')::date having count(*) > 1 limit 1`,
    );
    const { first = '', second = '' } = rows[0] ?? {};
    let payment: Promise<{ status: number }> | undefined;
    await sandbox.program.moment(async ({ client }) => {
      // Counts of this day and state are now this change's, until it ends.
      await client.query('delete from sandbox.commissions where id = $1', [first]);
      payment = sandbox.put(second, 'paid_at=');
      await expect.poll(() => countWaiting(pool)).toBe(1);
      await client.query("update sandbox.commissions set currency = 'CHF' where id = $1", [second]);
    });
    expect((await payment)?.status).toBe(200);
    expect(await sandbox.commission(second)).toMatchObject({ currency: 'CHF', paid_at: null });
  });

  it('a payment is refused with the words of the contract, as without the list', async () => {
    const [id = ''] = await idsInOrder('true');
    const answer = await sandbox.send('PUT', `/v1/commissions/${id}`, {
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(415);
    expect((await sandbox.put('none', '')).body).toEqual({ error: 'Commission not found: none' });
    expect((await sandbox.send('PUT', '/v1/commissions')).status).toBe(404);
  });
});
