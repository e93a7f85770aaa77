// The spelling of live deployments (contract, Spelling; Open sets; Times).

import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commissionSchema } from '../../src/contract/commission.ts';
import { toContractSpelling, WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';
import { createTestDatabase } from '../support/database.ts';
import { AFFILIATE_FIELDS, REFERRAL_FIELDS } from './contract-fields.ts';
import { fieldsOf, runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let live: TestSandbox;
let neutral: TestSandbox;
let commissionId: string;
let neutralId: string;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
  live = await runSandbox(pool, { spelling: 'live' });
  neutral = await runSandbox(pool, { schema: 'neutral' });
  const found = await pool.query<{ id: string }>('select id from sandbox.commissions limit 1');
  commissionId = found.rows[0]?.id ?? '';
  const other = await pool.query<{ id: string }>('select id from neutral.commissions limit 1');
  neutralId = other.rows[0]?.id ?? '';
});
afterAll(() => Promise.all([live.close(), neutral.close()]));

const PATHS = (id = commissionId) => [
  '/v1/affiliates?expand[]=campaign&expand[]=links&limit=100',
  '/v1/referrals?expand=affiliate&limit=100',
  `/v1/commissions/${id}`,
];

it('writes stripe_* and paypal_* wherever the contract writes processor_* and payout_*', async () => {
  for (const path of PATHS()) {
    const { text } = await live.send('GET', path);
    expect(text).not.toMatch(/"(processor|payout)_/);
    expect(text).toMatch(/"stripe_(customer|account)_id":/);
  }
  for (const path of PATHS(neutralId)) {
    expect((await neutral.send('GET', path)).text).not.toMatch(/"(stripe|paypal)_/);
  }
  const { text } = await live.send('GET', `/v1/commissions/${commissionId}`);
  for (const alias of WIRE_ALIASES.keys()) expect(text).toContain(`"${alias}"`);
});

it('has every field of the contract under its own name, beside those seen in the wild', async () => {
  const items = (await live.get('/v1/referrals?limit=100')) as { data: object[] };
  for (const item of items.data)
    expect(fieldsOf(toContractSpelling(item))).toEqual(expect.arrayContaining(REFERRAL_FIELDS));
  const { data } = (await live.get('/v1/affiliates?limit=100')) as { data: object[] };
  for (const item of data)
    expect(fieldsOf(toContractSpelling(item))).toEqual(expect.arrayContaining(AFFILIATE_FIELDS));
});

interface Coupon {
  readonly id: string;
  readonly token: string;
  readonly archived: boolean;
  readonly archived_at: string | null;
  readonly affiliate_id: string;
}

interface LiveReferral {
  readonly conversion_state: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly link: object | null;
  readonly became_lead_at: string | null;
  readonly became_conversion_at: string | null;
  readonly coupon: Coupon | null;
  readonly affiliate: { readonly id: string; readonly state: string };
}

async function liveReferrals(): Promise<readonly LiveReferral[]> {
  const read = async (page: number) =>
    (await live.get(`/v1/referrals?expand=affiliate&limit=100&page=${page}`)) as { data: LiveReferral[] };
  return (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(read))).flatMap(({ data }) => data);
}

it('a referral carries when it became a lead and a conversion, in the order of what happened', async () => {
  const items = await liveReferrals();
  for (const item of items) {
    const { conversion_state, created_at, became_lead_at, became_conversion_at, updated_at } = item;
    expect(became_lead_at === null).toBe(conversion_state === 'visitor');
    expect(became_conversion_at === null).toBe(conversion_state !== 'conversion');
    const times = [created_at, became_lead_at, became_conversion_at, updated_at].filter((at) => at !== null);
    expect(times).toEqual(times.toSorted());
  }
  expect(new Set(items.map((item) => item.conversion_state)).size).toBe(3);
});

it('a referral without link carries the coupon of its affiliate, the same one each time', async () => {
  const items = await liveReferrals();
  const coupons = new Map<string, Coupon>();
  for (const { link, coupon, affiliate } of items) {
    expect(coupon === null).toBe(link !== null);
    if (coupon === null) continue;
    expect(fieldsOf(coupon)).toEqual([
      ...['affiliate_id', 'archived', 'archived_at', 'external_id', 'id', 'token'],
    ]);
    expect(coupon.affiliate_id).toBe(affiliate.id);
    expect(coupon.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(coupon.archived).toBe(affiliate.state === 'disabled');
    expect(coupon.archived_at !== null).toBe(coupon.archived);
    expect(coupons.get(affiliate.id) ?? coupon).toEqual(coupon);
    coupons.set(affiliate.id, coupon);
  }
  expect(coupons.size).toBeGreaterThan(2);
  expect(new Set([...coupons.values()].map(({ token }) => token)).size).toBe(coupons.size);
});

it('a live step dates what it makes of a referral', async () => {
  const moving = await runSandbox(pool, { schema: 'moving', spelling: 'live' });
  const column = { lead: 'became_lead_at', conversion: 'became_conversion_at' } as const;
  const awaited = new Set<string>(['lead', 'conversion']);
  for (let step = 0; step < 400 && awaited.size > 0; step += 1) {
    const { kind, id } = await moving.live.step();
    if (kind !== 'lead' && kind !== 'conversion') continue;
    const { rows } = await pool.query(
      `select ${column[kind]} = updated_at as is_dated from moving.referrals where id = $1`,
      [id],
    );
    expect(rows).toEqual([{ is_dated: true }]);
    awaited.delete(kind);
  }
  expect(awaited).toEqual(new Set());
  await moving.close();
});

it('an affiliate without paypal_email has a null or an empty one, and a confirmed one is paid by wise_email', async () => {
  const { data } = (await live.get('/v1/affiliates?limit=100')) as {
    data: {
      email: string;
      confirmed_at: string | null;
      paypal_email: string | null;
      wise_email: string | null;
    }[];
  };
  const kinds = new Set<string>();
  for (const item of data) {
    expect(item).toHaveProperty(
      'wise_email_confirmed_at',
      item.wise_email === null ? null : item.confirmed_at,
    );
    const isConfirmed = item.confirmed_at !== null;
    if (item.paypal_email === null) expect(isConfirmed).toBe(false);
    if (item.paypal_email === '') expect(isConfirmed).toBe(true);
    expect(item.wise_email).toBe(item.paypal_email === '' ? `wise.${item.email}` : null);
    kinds.add(item.paypal_email === null ? 'null' : item.paypal_email === '' ? 'empty' : 'given');
  }
  expect(kinds).toEqual(new Set(['null', 'empty', 'given']));
});

it('a campaign carries its settings', async () => {
  const { data } = (await live.get('/v1/affiliates?expand=campaign&limit=1')) as {
    data: { campaign: object }[];
  };
  expect(data[0]?.campaign).toMatchObject({
    url: expect.stringMatching(/^https:/),
    private: false,
    commission_percent: expect.any(Number),
    days_until_commissions_are_due: expect.any(Number),
  });
});

it('times written with an offset name the same moments, without the seconds where these are zero', async () => {
  const offset = await runSandbox(pool, { spelling: 'live', times: 'offset' });
  const moments = (text: string) => {
    const written = [...text.matchAll(/"(\w+_at)":"([^"]*)"/g)];
    return written.map(([, name, at = '']) => `${name} ${new Date(at).getTime()}`);
  };
  for (const path of PATHS()) {
    const { text } = await offset.send('GET', path);
    expect(moments(text)).toEqual(moments((await live.send('GET', path)).text));
    expect(moments(text).length).toBeGreaterThan(5);
    expect(text).not.toMatch(/\dZ"/);
    expect(text).toMatch(/T\d\d:\d\d:\d\d\.\d{3}\+0000"/);
  }
  const answer = await offset.put(commissionId, 'paid_at=2026-05-04T03:02:00Z');
  expect(answer.body).toMatchObject({ paid_at: '2026-05-04T03:02+0000' });
  await offset.close();
});

it('an affiliate carries its state, a commission its state and voided_at', async () => {
  expect((await live.affiliates()).data[0]).toHaveProperty('state');
  expect(await live.commission(commissionId)).toMatchObject({ state: expect.any(String) });
  expect(await live.get(`/v1/commissions/${commissionId}`)).toHaveProperty('voided_at');
});

it('"Sent by PUT, paid_at may come back with its sub-second part cut"', async () => {
  const { body } = await live.put(commissionId, 'paid_at=2026-05-04T03:02:01.987Z');
  expect(commissionSchema.parse(body).paid_at).toBe('2026-05-04T03:02:01.000Z');
});

it('a commission is voided, paid, due or pending by its times when it is written', async () => {
  const { id } = await live.program.insertReferral({ conversion_state: 'conversion' });
  const { commission } = await live.program.insertSale(id);
  const stateAfter = async (form: string) =>
    commissionSchema.parse((await live.put(commission.id, form)).body).state;
  expect((await live.commission(commission.id)).state).toBe('pending');
  expect(await stateAfter('due_at=2026-01-01T00:00:00Z')).toBe('due');
  expect(await stateAfter('paid_at=2026-01-02T00:00:00Z')).toBe('paid');
  expect(await stateAfter('due_at=2999-01-01T00:00:00Z')).toBe('paid');
  expect(await stateAfter('paid_at=')).toBe('pending');
  await live.program.updateCommission(commission.id, { voided_at: '2026-01-01T00:00:00Z' });
  expect(await stateAfter('paid_at=2026-01-02T00:00:00Z')).toBe('voided');
});
