// A commission whose sale was refunded in full is not paid by mistake, though the program says nowhere that it is
// voided.

import { describe, expect, test } from 'vitest';
import { judgeAnswer, judgeUpdate } from '../../src/commissions/judge-update.ts';
import { previewUpdates } from '../../src/commissions/preview-updates.ts';
import { describeRefund } from '../../src/commissions/refunded-sale.ts';
import { plainRequest } from '../../src/commissions/update-request.ts';
import type { Commission, Sale } from '../../src/contract/commission.ts';
import { PAID_AT, useWriter } from './writer/start-writer.ts';

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

  test('is warned of by the dry run, both ways', async () => {
    const { api, db } = writer();
    const id = await refunded();
    const pay = plainRequest({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    const requests = [pay, { ...pay, even_if_refunded: true }];
    const previewed = await Array.fromAsync(
      previewUpdates({ client: api, db }, requests, {
        concurrency: 1,
        signal: AbortSignal.timeout(100_000),
      }),
    );
    expect(previewed).toMatchObject([
      { would: 'conflict', outcome: expect.stringContaining('fully refunded') },
      { would: 'change', note: expect.stringContaining('fully refunded') },
    ]);
  });

  test('that arrived already, its answer lost, ends as applied', async () => {
    const { ask, drain, row, received, sandbox, database } = writer();
    const id = await refunded();
    const { rows } = await database.pool.query<{ sale_id: string; refund: number }>(
      `update program.sales sale set refund_amount_cents = 0
       from program.commissions co, program.sales old
       where co.id = $1 and sale.id = co.sale_id and old.id = sale.id
       returning sale.id as sale_id, old.refund_amount_cents as refund`,
      [id],
    );
    await database.pool.query(
      'update program.sales set sale_amount_cents = charge_amount_cents where id = $1',
      [rows[0]?.sale_id],
    );
    const [asked] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    sandbox.setFaults({
      shares: {},
      exact: [
        { kind: 'reset-after', method: 'PUT' },
        { kind: 'stall', after: 2 },
      ],
    });
    const controller = new AbortController();
    const stopped = drain({ signal: controller.signal });
    stopped.catch(() => undefined);
    // The GET, the PUT whose answer is lost, and the GET that is to tell, which is never answered.
    await expect.poll(() => received().length).toBe(3);
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(await row(asked?.id)).toMatchObject({ state: 'pending' });
    await database.pool.query(
      'update program.sales set refund_amount_cents = charge_amount_cents where id = $1',
      [rows[0]?.sale_id],
    );
    sandbox.setFaults({ shares: {}, exact: [] });
    expect(await drain()).toMatchObject({ ended: { applied: 1 } });
    expect((await row(asked?.id)).note).toMatch(/the answer to the change was lost.*fully refunded/);
  });
});

describe('even_if_refunded', () => {
  test('is part of what makes a request the same under its key', async () => {
    const { ask } = writer();
    const pay = {
      commission_id: '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11',
      action: 'pay' as const,
      paid_at: PAID_AT,
      idempotency_key: 'payout-1',
    };
    const [first] = await ask(pay);
    expect(await ask(pay)).toMatchObject([{ id: first?.id, isNew: false }]);
    await expect(ask({ ...pay, even_if_refunded: true })).rejects.toThrow(
      /'payout-1' names another request already/,
    );
    const { pool } = writer().database;
    await expect(
      pool.query('update commission_updates set even_if_refunded = true where id = $1', [first?.id]),
    ).rejects.toThrow('never edited');
    await pool.query(
      `update commission_updates set state = 'cancelled', outcome = 'test', finished_at = now() where id = $1`,
      [first?.id],
    );
  });

  test.each(['unpay', 'due'] as const)('is refused with %s', async (action) => {
    const { fresh, ask } = writer();
    const { id } = await fresh();
    const due_at = action === 'due' ? PAID_AT : null;
    await expect(ask({ commission_id: id, action, due_at, even_if_refunded: true })).rejects.toThrow(
      `${action} with even_if_refunded`,
    );
  });
});

describe('a sale', () => {
  const AT = '2026-10-01T12:00:00Z';
  const sale = (amounts: Partial<Sale>): Sale => ({ id: 'sale', created_at: AT, updated_at: AT, ...amounts });
  const live = (amounts: Partial<Sale> | null, more: Partial<Commission> = {}): Commission => ({
    id: '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11',
    created_at: AT,
    updated_at: AT,
    amount: 100,
    currency: 'USD',
    paid_at: null,
    sale: amounts === null ? null : sale(amounts),
    ...more,
  });

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
    expect(describeRefund(live(amounts)) !== null).toBe(is);
  });

  const gone = { charge_amount_cents: 500, refund_amount_cents: 500 };
  const pay = plainRequest({ commission_id: live(null).id, action: 'pay', paid_at: AT });

  test('that is refunded holds back a pay whatever the state says, and nothing but a pay', () => {
    expect(judgeUpdate(pay, live(gone, { state: 'due' }), null)).toMatchObject({ state: 'conflict' });
    expect(judgeUpdate(pay, live(gone), { on: null })).toMatchObject({ state: 'conflict' });
    expect(judgeUpdate(pay, live(gone, { state: 'voided' }), null)).toMatchObject({ state: 'rejected' });
    const unpay = plainRequest({ commission_id: pay.commission_id, action: 'unpay' });
    expect(judgeUpdate(unpay, live(gone, { paid_at: AT }), null)).toMatchObject({ kind: 'write' });
    const due = plainRequest({ commission_id: pay.commission_id, action: 'due', due_at: AT });
    expect(judgeUpdate(due, live(gone), null)).toMatchObject({ kind: 'write', note: null });
  });

  test('that is refunded leaves what is paid already as it is, with a note', () => {
    const refund = expect.stringContaining('fully refunded');
    const paid = live(gone, { paid_at: AT });
    expect(judgeUpdate(pay, paid, null)).toMatchObject({ state: 'unchanged', note: refund });
    expect(judgeUpdate(pay, paid, { on: null })).toMatchObject({ state: 'applied', note: refund });
    expect(judgeAnswer(pay, null, paid)).toMatchObject({ state: 'applied', note: refund });
  });
});
