// A commission whose sale was refunded in full is not paid by mistake, though the program says nowhere that it is
// voided.

import { describe, expect, test } from 'vitest';
import type { Commission, Sale } from '../../src/contract/commission.ts';
import { judgeAnswer, judgeUpdate } from '../../src/payments/judge-update.ts';
import { plainRequest } from '../../src/payments/update-request.ts';
import { describeRefund } from '../../src/payments/update-words.ts';
import { AT, ID, live } from './live-commission.ts';
import { PAID_AT, useWriter } from './write/start-writer.ts';

const writer = useWriter();

/** A commission that the program voided, of which its answers in the contract's own spelling show only the refund. */
async function refunded(): Promise<string> {
  const { database } = writer();
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from program.commissions
     where voided_at is not null and paid_at is null
       and id not in (select commission_id from commission_updates) order by id limit 1`,
  );
  if (rows[0] === undefined) throw new Error('the program has no voided commission left');
  return rows[0].id;
}

describe('a pay of a commission whose sale was refunded in full', () => {
  test('ends as conflict and says how to pay it all the same; nothing is sent', async () => {
    const { ask, drain, row, received, program } = writer();
    const id = await refunded();
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    expect(await drain()).toMatchObject({ ended: { conflict: 1 } });
    expect(await row(asked?.id)).toMatchObject({
      state: 'conflict',
      outcome: expect.stringMatching(/^its sale is fully refunded \((\d+) of \1 cents\): nothing was sent$/),
      note: expect.stringContaining('even_if_refunded'),
    });
    expect(received('PUT')).toEqual([]);
    expect((await program(id)).paid_at).toBeNull();
  });

  test('is applied where the request says so, and the payment ledger keeps that', async () => {
    const { ask, drain, row, received, database } = writer();
    const id = await refunded();
    const [asked] = await ask({
      commission_id: id,
      action: 'pay',
      paid_at: PAID_AT,
      even_if_refunded: true,
    });
    expect(await drain()).toMatchObject({ ended: { applied: 1 } });
    expect(await row(asked?.id)).toMatchObject({
      state: 'applied',
      note: expect.stringContaining('its sale is fully refunded'),
    });
    expect(received('PUT').length).toBe(1);
    const { rows } = await database.pool.query('select asked from commission_ledger where request = $1', [
      asked?.id,
    ]);
    expect(rows).toEqual([{ asked: 'mark paid at 2026-10-05 12:00:00 UTC, even if refunded' }]);
  });
});

describe('a sale', () => {
  const sold = (amounts: Partial<Sale> | null, more: Partial<Commission> = {}) =>
    live({ sale: amounts && { id: 'sale', created_at: AT, updated_at: AT, ...amounts }, ...more });

  test.each([
    [true, { charge_amount_cents: 500, refund_amount_cents: 500, sale_amount_cents: 0 }],
    [true, { charge_amount_cents: 500, refund_amount_cents: 500 }],
    [true, { charge_amount_cents: 500, refund_amount_cents: 600 }],
    [true, { sale_amount_cents: 0 }],
    [true, { charge_amount_cents: 500, sale_amount_cents: 0 }],
    [false, { charge_amount_cents: 500, refund_amount_cents: 499, sale_amount_cents: 1 }],
    [false, { charge_amount_cents: 0, refund_amount_cents: 0, sale_amount_cents: 0 }],
    [false, { charge_amount_cents: 500, refund_amount_cents: 0, sale_amount_cents: 500 }],
    [false, { refund_amount_cents: 500 }],
    [false, {}],
    [false, null],
  ])('is fully refunded (%s): %j', (is, amounts) => {
    expect(describeRefund(sold(amounts)) !== null).toBe(is);
  });

  const gone = { charge_amount_cents: 500, refund_amount_cents: 500 };
  const pay = plainRequest({ commission_id: ID, action: 'pay', paid_at: AT });

  test('that is refunded holds back a pay whatever the state says, and nothing but a pay', () => {
    expect(judgeUpdate(pay, sold(gone, { state: 'due' }), null)).toMatchObject({ state: 'conflict' });
    expect(judgeUpdate(pay, sold(gone), { on: null })).toMatchObject({ state: 'conflict' });
    expect(judgeUpdate(pay, sold(gone, { state: 'voided' }), null)).toMatchObject({ state: 'rejected' });
    const unpay = plainRequest({ commission_id: pay.commission_id, action: 'unpay' });
    expect(judgeUpdate(unpay, sold(gone, { paid_at: AT }), null)).toMatchObject({ kind: 'write' });
    const due = plainRequest({ commission_id: pay.commission_id, action: 'due', due_at: AT });
    expect(judgeUpdate(due, sold(gone, { due_at: null }), null)).toMatchObject({ kind: 'write', note: null });
  });

  test('that is refunded leaves what is paid already as it is, with a note', () => {
    const refund = expect.stringContaining('fully refunded');
    const paid = sold(gone, { paid_at: AT });
    expect(judgeUpdate(pay, paid, null)).toMatchObject({ state: 'unchanged', note: refund });
    expect(judgeUpdate(pay, paid, { on: null })).toMatchObject({ state: 'applied', note: refund });
    expect(judgeAnswer(pay, null, paid)).toMatchObject({ state: 'applied', note: refund });
  });
});
