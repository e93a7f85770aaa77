// The spelling of live deployments (addendum: Spelling, conversion_state, PUT).

import { afterAll, beforeAll, expect, it } from 'vitest';
import { commissionSchema } from '../../src/contract/commission.ts';
import { toContractSpelling, WIRE_ALIASES } from '../../src/contract/wire-aliases.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox, type TestSandbox } from './running-sandbox.ts';

let live: TestSandbox;
let neutral: TestSandbox;
let commissionId: string;

beforeAll(async () => {
  const { pool } = await createTestDatabase();
  live = await runSandbox(pool, { spelling: 'live' });
  neutral = await runSandbox(pool);
  const found = await pool.query<{ id: string }>('select id from sandbox.commissions limit 1');
  commissionId = found.rows[0]?.id ?? '';
});
afterAll(() => Promise.all([live.close(), neutral.close()]));

const PATHS = () => [
  '/v1/affiliates?expand[]=campaign&expand[]=links&limit=100',
  '/v1/referrals?expand=affiliate&limit=100',
  `/v1/commissions/${commissionId}`,
];

it('writes stripe_* and paypal_* wherever the contract writes processor_* and payout_*', async () => {
  for (const path of PATHS()) {
    const { text } = await live.send('GET', path);
    expect(text).not.toMatch(/"(processor|payout)_/);
    expect(text).toMatch(/"stripe_(customer|account)_id" :/);
    const neutralText = (await neutral.send('GET', path)).text;
    expect(neutralText).not.toMatch(/"(stripe|paypal)_/);
  }
  const { text } = await live.send('GET', `/v1/commissions/${commissionId}`);
  for (const alias of WIRE_ALIASES.keys()) expect(text).toContain(`"${alias}"`);
});

it('says the same as the neutral spelling, beside the fields seen in the wild', async () => {
  const withoutWild = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withoutWild);
    if (typeof value !== 'object' || value === null) return value;
    const kept = Object.entries(value).filter(([key]) => key !== 'state' && key !== 'voided_at');
    return Object.fromEntries(kept.map(([key, inner]) => [key, withoutWild(inner)]));
  };
  const inContractSpelling = (body: unknown) =>
    typeof body === 'object' && body !== null && 'data' in body
      ? { ...body, data: toContractSpelling(body.data) }
      : toContractSpelling(body);
  for (const path of PATHS()) {
    expect(withoutWild(inContractSpelling(await live.get(path)))).toEqual(await neutral.get(path));
  }
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
  expect(await stateAfter('due_at=2026-01-01')).toBe('due');
  expect(await stateAfter('paid_at=2026-01-02')).toBe('paid');
  expect(await stateAfter('due_at=2999-01-01')).toBe('paid');
  expect(await stateAfter('paid_at=')).toBe('pending');
  await live.program.updateCommission(commission.id, { voided_at: '2026-01-01T00:00:00Z' });
  expect(await stateAfter('paid_at=2026-01-02')).toBe('voided');
});
