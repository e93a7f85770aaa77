// What becomes of a request: each terminal state with its line in the payment ledger, and what a drain leaves that ends.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DatabaseUnreachable } from '../../../src/base/errors.ts';
import { applyUpdates } from '../../../src/payments/write/apply-updates.ts';
import { awaitUpdates } from '../../../src/payments/write/await-updates.ts';
import { makeAlteredApi, PAID_AT, silent, useWriter } from './start-writer.ts';

const writer = useWriter();

describe('a request', () => {
  test('to pay ends as applied, with what was there before, and the mirror shows it', async () => {
    const { fresh, ask, drain, row, program, attempts, database } = writer();
    const { id, amount, currency } = await fresh();
    const [asked] = await ask({
      commission_id: id,
      action: 'pay',
      paid_at: PAID_AT,
      reason: 'October payout',
    });

    expect(await drain()).toEqual({ ended: { applied: 1 }, deferred: 0 });

    expect(await row(asked?.id)).toMatchObject({
      state: 'applied',
      outcome: `marked paid at ${PAID_AT}`,
      note: null,
      before: { paid_at: null, amount, currency },
      after: { amount, currency },
      attempts: 0,
      requested_by: 'finance',
    });
    expect((await program(id)).paid_at).toBe('2026-10-05T12:00:00.000Z');
    expect(await attempts(asked?.id)).toMatchObject([
      { method: 'GET', status: 200, sent: null },
      { method: 'PUT', status: 200, sent: 'paid_at=2026-10-05T12%3A00%3A00Z', error: null },
    ]);
    const mirrored = await database.pool.query(
      `select co.paid_at, sa.affiliate_id is not null as has_sale from commissions co join sales sa on sa.id = co.sale_id where co.id = $1`,
      [id],
    );
    expect(mirrored.rows).toEqual([{ paid_at: PAID_AT, has_sale: true }]);
  });

  test('stays claimed for as long as its program takes to answer', async () => {
    const { api, db, fresh, askToPay, row, database } = writer();
    const { id } = await fresh();
    const [asked] = await askToPay([{ id }]);
    const asking = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow: typeof api = {
      ...api,
      async getCommission(...call) {
        asking.resolve();
        await gate.promise;
        return api.getCommission(...call);
      },
    };
    const claimMs = 1500;
    const draining = applyUpdates(
      { api: slow, db, log: silent },
      { concurrency: 1, signal: new AbortController().signal, timing: { claimMs } },
    );
    await asking.promise;
    const left = async () =>
      (
        await database.pool.query<{ left: number }>(
          `select extract(epoch from claimed_until - clock_timestamp())::float8 as left
           from commission_updates where id = $1`,
          [asked?.id],
        )
      ).rows[0]?.left ?? 0;
    const [longest] = [performance.now() + 2 * claimMs];
    while (performance.now() < longest) {
      expect(await left()).toBeGreaterThan(0);
      await sleep(50);
    }
    gate.resolve();
    await draining;
    expect((await row(asked?.id)).state).toBe('applied');
  });

  test('for a commission that is gone ends as not_found, and the mirror marks it deleted', async () => {
    const { fresh, ask, drain, row, sandbox, database } = writer();
    const { id } = await fresh();
    const [first] = await ask({ commission_id: id, action: 'unpay' });
    await drain();
    expect((await row(first?.id)).state).toBe('unchanged');
    await sandbox.program.deleteCommission(id);
    const [second] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    await drain();
    expect((await row(second?.id)).state).toBe('not_found');
    const { rows } = await database.pool.query(
      'select _deleted_at is not null as gone from commissions where id = $1',
      [id],
    );
    expect(rows).toEqual([{ gone: true }]);
  });
});

describe('requests for one commission', () => {
  test('apply in the order in which they were asked for, whatever the concurrency', async () => {
    const { fresh, ask, drain, program, received } = writer();
    const { id } = await fresh();
    const hours = Array.from(
      { length: 12 },
      (_, hour) => `2026-10-05T${String(hour).padStart(2, '0')}:00:00Z`,
    );
    await ask(...hours.map((paid_at) => ({ commission_id: id, action: 'pay' as const, paid_at })));
    await Promise.all([drain({ concurrency: 8 }), drain({ concurrency: 8 })]);
    expect(received('PUT').length).toBe(12);
    expect((await program(id)).paid_at).toBe('2026-10-05T11:00:00.000Z');
  });

  test('that supersede drop the older ones, and only those that set the same value', async () => {
    const { fresh, ask, drain, row, received } = writer();
    const { id } = await fresh();
    const older = await ask(
      { commission_id: id, action: 'pay', paid_at: PAID_AT },
      { commission_id: id, action: 'due', due_at: '2026-12-01T00:00:00Z' },
    );
    const [newer] = await ask({
      commission_id: id,
      action: 'pay',
      paid_at: '2026-10-06T00:00:00Z',
      supersede: true,
    });
    await drain();
    expect(await row(older[0]?.id)).toMatchObject({
      state: 'superseded',
      outcome: `superseded by request ${newer?.id} before anything was sent`,
    });
    expect((await row(older[1]?.id)).state).toBe('applied');
    expect((await row(newer?.id)).state).toBe('applied');
    expect(received('PUT').length).toBe(2);
  });
});

test('whoever waits for requests of their own does not cut off the change of another that was sent', async () => {
  const { freshMany, askToPay, row, attempts, sandbox, db } = writer();
  const commissions = await freshMany(3);
  // The first goes alone, until the program has answered it.
  const [first, own, other] = await askToPay(commissions);
  const sent = Promise.withResolvers<void>();
  const ownEnded = Promise.withResolvers<void>();
  const answers: string[] = [];
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    const isPut = answers.includes(path);
    answers.push(path);
    if (isPut && path.endsWith(commissions[1]?.id ?? '')) await sent.promise;
    if (isPut && path.endsWith(commissions[2]?.id ?? '')) {
      sent.resolve();
      await ownEnded.promise;
    }
    return body;
  });
  const counts = await awaitUpdates({ api, db, log: silent }, [first?.id ?? 0, own?.id ?? 0], {
    concurrency: 2,
    signal: AbortSignal.timeout(100_000),
    onProgress: ({ pending }) => pending === undefined && ownEnded.resolve(),
  });
  expect(counts).toEqual({ applied: 2 });
  expect(await row(other?.id)).toMatchObject({ state: 'applied', note: null });
  expect(await attempts(other?.id)).toMatchObject([
    { method: 'GET', status: 200 },
    { method: 'PUT', status: 200, error: null },
  ]);
});

describe('a drain', () => {
  test('that is aborted releases what it has not done', async () => {
    const { freshMany, askToPay, drain, row, sandbox } = writer();
    const commissions = await freshMany(4);
    const asked = await askToPay(commissions);
    sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', after: 2, times: 100 }] });
    const controller = new AbortController();
    const drained = drain({ signal: controller.signal, onEnd: () => controller.abort(new Error('stopped')) });
    await expect(drained).rejects.toThrow('stopped');
    sandbox.setFaults({ shares: {}, exact: [] });
    const states = await Promise.all(asked.map(({ id }) => row(id)));
    expect(states.map(({ state, claimed_by }) => [state, claimed_by])).toEqual([
      ['applied', null],
      ['pending', null],
      ['pending', null],
      ['pending', null],
    ]);
    expect(await drain()).toMatchObject({ ended: { applied: 3 } });
  });

  test('that ends for another reason while a change is under way remembers that it may have arrived', async () => {
    const { fresh, askToPay, drain, row, received, sandbox } = writer();
    const { id } = await fresh();
    const [asked] = await askToPay([{ id }]);
    sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', method: 'PUT' }] });
    const controller = new AbortController();
    const drained = drain({ signal: controller.signal });
    drained.catch(() => undefined);
    await expect.poll(() => received().filter(({ method }) => method === 'PUT').length).toBe(1);
    controller.abort(new DatabaseUnreachable('the connection was lost'));
    await expect(drained).rejects.toThrow('the connection was lost');
    expect(await row(asked?.id)).toMatchObject({ state: 'pending', put_sent_at: expect.any(String) });
    // It arrived.
    await sandbox.program.updateCommission(id, { paid_at: PAID_AT });
    sandbox.setFaults({ shares: {}, exact: [] });
    expect(await drain()).toMatchObject({ ended: { applied: 1 } });
  });
});
