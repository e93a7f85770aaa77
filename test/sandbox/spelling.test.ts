// The spelling of live deployments (contract, Spelling; Open sets; Times).

import { afterAll, expect, it } from 'vitest';
import { commissionSchema } from '../../src/contract/commission.ts';
import { WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const live = await runSandbox(pool, { spelling: 'live' });
const neutral = await runSandbox(pool, { schema: 'neutral' });
const found = await pool.query<{ id: string }>('select id from sandbox.commissions limit 1');
const commissionId = found.rows[0]?.id ?? '';
const other = await pool.query<{ id: string }>('select id from neutral.commissions limit 1');
const neutralId = other.rows[0]?.id ?? '';
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

interface LiveReferral {
  readonly link: object | null;
  readonly coupon: { readonly token: string; readonly affiliate_id: string } | null;
  readonly affiliate: { readonly id: string };
}

it('a referral without link carries the coupon of its affiliate, the same one each time', async () => {
  const read = async (page: number) =>
    (await live.get(`/v1/referrals?expand=affiliate&limit=100&page=${page}`)) as { data: LiveReferral[] };
  const data = (await Promise.all([1, 2, 3, 4].map(read))).flatMap((page) => page.data);
  const coupons = new Map<string, object>();
  for (const { link, coupon, affiliate } of data) {
    expect(coupon === null).toBe(link !== null);
    if (coupon === null) continue;
    expect(coupon).toEqual(coupons.get(affiliate.id) ?? { ...coupon, affiliate_id: affiliate.id });
    coupons.set(affiliate.id, coupon);
  }
  expect(coupons.size).toBeGreaterThan(1);
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
