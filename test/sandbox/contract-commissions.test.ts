// api-contract.md: Retrieve commission, Update commission, States and transitions.

import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { AUTHORIZATION, runSandbox, type TestSandbox } from './running-sandbox.ts';

let pool: pg.Pool;
let sandbox: TestSandbox;
let unpaidId: string;

beforeAll(async () => {
  ({ pool } = await createTestDatabase());
  sandbox = await runSandbox(pool);
});
afterAll(() => sandbox.close());

beforeEach(async () => {
  const { id } = await sandbox.program.insertReferral({ conversion_state: 'conversion' });
  const { commission } = await sandbox.program.insertSale(id);
  unpaidId = commission.id;
});

const PAID_AT = '2026-05-04T03:02:01.234Z';

describe('Retrieve commission', () => {
  it('shows the same referral and affiliate as the lists do', async () => {
    const { sale } = await sandbox.commission(unpaidId);
    const email = sale?.referral?.customer?.email;
    const { data } = await sandbox.referrals(`?email=${email}&expand=affiliate`);
    expect(data).toEqual([{ ...sale?.referral, affiliate: sale?.affiliate }]);
  });

  it('"No query parameters": what is sent is ignored', async () => {
    const plain = await sandbox.get(`/v1/commissions/${unpaidId}`);
    expect(await sandbox.get(`/v1/commissions/${unpaidId}?expand=links&page=2`)).toEqual(plain);
  });

  it('paid_at: "Null while unpaid"', async () => {
    expect((await sandbox.commission(unpaidId)).paid_at).toBeNull();
  });
});

describe('Update commission', () => {
  it('"paid_at sent with a timestamp": unpaid becomes paid, paid_at holds the timestamp', async () => {
    const before = await sandbox.commission(unpaidId);
    const { status, body } = await sandbox.put(unpaidId, `paid_at=${PAID_AT}`);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, paid_at: PAID_AT, updated_at: expect.any(String) });
    expect(await sandbox.commission(unpaidId)).toEqual(body);
  });

  it('"paid_at sent as an empty value": paid becomes unpaid, paid_at null', async () => {
    await sandbox.put(unpaidId, `paid_at=${PAID_AT}`);
    const { status, body } = await sandbox.put(unpaidId, 'paid_at=');
    expect(status).toBe(200);
    expect(body).toMatchObject({ paid_at: null });
    expect((await sandbox.commission(unpaidId)).paid_at).toBeNull();
  });

  it('"due_at sent with a timestamp": due_at changes, the payment status does not', async () => {
    await sandbox.put(unpaidId, `paid_at=${PAID_AT}`);
    const { status, body } = await sandbox.put(unpaidId, 'due_at=2027-01-31T00:00:00Z');
    expect(status).toBe(200);
    expect(body).toMatchObject({ paid_at: PAID_AT, due_at: '2027-01-31T00:00:00.000Z' });
  });

  it('"a parameter that is not sent leaves the field unchanged", none sent changes nothing at all', async () => {
    const { due_at } = await sandbox.commission(unpaidId);
    const paid = await sandbox.put(unpaidId, `paid_at=${PAID_AT}`);
    expect(paid.body).toMatchObject({ due_at });
    const untouched = await sandbox.put(unpaidId, 'something_else=1');
    expect(untouched).toEqual(paid);
    expect(await sandbox.send('PUT', `/v1/commissions/${unpaidId}`)).toMatchObject({ status: 200 });
    expect(await sandbox.commission(unpaidId)).toEqual(paid.body);
  });

  it('both parameters are applied together', async () => {
    const { body } = await sandbox.put(unpaidId, `paid_at=${PAID_AT}&due_at=2026-01-01T00:00:00Z`);
    expect(body).toMatchObject({ paid_at: PAID_AT, due_at: '2026-01-01T00:00:00.000Z' });
  });

  it.each([
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['2099-12-31T23:59:59.999Z', '2099-12-31T23:59:59.999Z'],
    ['2026-03-01T12:00:00%2B02:00', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T12:00:00-0530', '2026-03-01T17:30:00.000Z'],
    ['2026-03-01T12:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00.6789Z', '2026-03-01T12:00:00.678Z'],
  ])('"any time in the past or future": paid_at=%s is %s', async (sent, held) => {
    const { status, body } = await sandbox.put(unpaidId, `paid_at=${sent}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ paid_at: held });
  });

  it.each(['due_at=', 'due_at=%20%20'])('due_at "must not be blank": %s is 422', async (form) => {
    const before = await sandbox.commission(unpaidId);
    expect(await sandbox.put(unpaidId, `paid_at=${PAID_AT}&${form}`)).toEqual({
      status: 422,
      body: { error: 'Could not update commission', details: ["Due at can't be blank"] },
    });
    expect(await sandbox.commission(unpaidId)).toEqual(before);
  });

  it.each([
    'yesterday',
    '2026-02-30T00:00:00Z',
    '2026-03-01',
    '2026-03-01T12:00',
    '1767225600',
    '2026-01-01T25:00:00Z',
    '%20',
    '%00',
    'null',
  ])(
    '422 "details is an array of strings, each describing one validation problem": %s is no time',
    async (text) => {
      const before = await sandbox.commission(unpaidId);
      expect(await sandbox.put(unpaidId, `paid_at=${text}&due_at=never`)).toEqual({
        status: 422,
        body: {
          error: 'Could not update commission',
          details: ['Paid at is not an ISO 8601 time', 'Due at is not an ISO 8601 time'],
        },
      });
      expect(await sandbox.commission(unpaidId)).toEqual(before);
    },
  );

  it('an unknown commission is 404, also with an invalid body', async () => {
    expect(await sandbox.put('none', 'due_at=')).toEqual({
      status: 404,
      body: { error: 'Commission not found: none' },
    });
  });

  it('a parameter in the address is not one of the body', async () => {
    await sandbox.send('PUT', `/v1/commissions/${unpaidId}?paid_at=${PAID_AT}`);
    expect((await sandbox.commission(unpaidId)).paid_at).toBeNull();
  });

  it('a JSON body changes nothing', async () => {
    const answer = await sandbox.send('PUT', `/v1/commissions/${unpaidId}`, {
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ paid_at: PAID_AT }),
    });
    expect(answer.status).toBe(415);
    expect((await sandbox.commission(unpaidId)).paid_at).toBeNull();
  });

  it('moves updated_at, also where the value stays the same', async () => {
    const before = await sandbox.commission(unpaidId);
    await sandbox.put(unpaidId, 'paid_at=');
    const after = await sandbox.commission(unpaidId);
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  });

  it('shows in the stats of its affiliate', async () => {
    const { sale, amount, currency } = await sandbox.commission(unpaidId);
    const paid = async () => {
      const query = `?email=${sale?.affiliate?.email}&expand=commission_stats`;
      const stats = (await sandbox.affiliates(query)).data[0]?.commission_stats as {
        currencies: Record<string, { paid: { cents: number } }>;
      };
      return stats.currencies[currency]?.paid.cents ?? 0;
    };
    const before = await paid();
    await sandbox.put(unpaidId, `paid_at=${PAID_AT}`);
    expect(await paid()).toBe(before + amount);
  });
});
