// api-contract.md: Update commission, States and transitions.

import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { runSandbox } from './running-sandbox.ts';

let unpaidId: string;

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool);

beforeEach(async () => {
  const { id } = await sandbox.program.insertReferral({ conversion_state: 'conversion' });
  const { commission } = await sandbox.program.insertSale(id);
  unpaidId = commission.id;
});

const PAID_AT = '2026-05-04T03:02:01.234Z';

describe('Update commission', () => {
  it.each<[string, string, object]>([
    [
      '"paid_at sent with a timestamp"',
      'paid_at=2099-12-31T23:59:59.999Z',
      { paid_at: '2099-12-31T23:59:59.999Z' },
    ],
    ['"paid_at sent as an empty value"', 'paid_at=', { paid_at: null }],
    ['"due_at sent with a timestamp"', 'due_at=2027-01-31T00:00:00Z', { due_at: '2027-01-31T00:00:00.000Z' }],
    [
      '"any time in the past or future"',
      'paid_at=2026-03-01T12:00:00-0530',
      { paid_at: '2026-03-01T17:30:00.000Z' },
    ],
    ['an offset', 'paid_at=2026-03-01T12:00:00%2B02:00', { paid_at: '2026-03-01T10:00:00.000Z' }],
    [
      'digits below a millisecond',
      'paid_at=2026-03-01T12:00:00.6789Z',
      { paid_at: '2026-03-01T12:00:00.678Z' },
    ],
  ])('%s: after %s, a paid commission has that, and the rest as it was', async (_, form, changed) => {
    const paid = await sandbox.put(unpaidId, `paid_at=${PAID_AT}`);
    expect(paid).toMatchObject({ status: 200, body: { paid_at: PAID_AT } });
    const { status, body } = await sandbox.put(unpaidId, form);
    expect(status).toBe(200);
    expect(body).toEqual({ ...(paid.body as object), ...changed, updated_at: expect.any(String) });
    expect(await sandbox.commission(unpaidId)).toEqual(body);
  });

  it('"a parameter that is not sent leaves the field unchanged", none sent changes nothing at all', async () => {
    const before = await sandbox.commission(unpaidId);
    expect(await sandbox.put(unpaidId, 'something_else=1')).toEqual({ status: 200, body: before });
    expect(await sandbox.send('PUT', `/v1/commissions/${unpaidId}`)).toMatchObject({ status: 200 });
    expect(await sandbox.commission(unpaidId)).toEqual(before);
  });

  it.each(['due_at=', 'due_at=%20%20'])('due_at "must not be blank": %s is 422', async (form) => {
    const before = await sandbox.commission(unpaidId);
    expect(await sandbox.put(unpaidId, `paid_at=${PAID_AT}&${form}`)).toEqual({
      status: 422,
      body: { error: 'Could not update commission', details: ["Due at can't be blank"] },
    });
    expect(await sandbox.commission(unpaidId)).toEqual(before);
  });

  it.each(['yesterday', '2026-02-30T00:00:00Z', '2026-03-01T12:00', '1767225600', '%00'])(
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

  it('moves updated_at, also where the value stays the same', async () => {
    const before = await sandbox.commission(unpaidId);
    await sandbox.put(unpaidId, 'paid_at=');
    const after = await sandbox.commission(unpaidId);
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
  });
});
