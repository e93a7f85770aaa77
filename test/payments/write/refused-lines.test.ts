// A line of the payment ledger that Postgres refuses fails the one request that it is of, which is sent once at most.

import { describe, expect, test } from 'vitest';
import { useRefusals } from './refusing-database.ts';
import { useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 1200 });
const { addConstraint, addTrigger, takeAway, askToPay, rejectionsOf, statesOf } = useRefusals(writer);

describe('a line of the payment ledger that is refused', () => {
  test('waits with its reason and is overtaken, ends as failed in the end, and is sent once', async () => {
    const { freshMany, ask, drain, row, received, program } = writer();
    const commissions = await freshMany(8);
    const poisoned = commissions[0]?.id ?? '';
    await addConstraint('commission_updates', `commission_id <> '${poisoned}' or state <> 'applied'`);
    const [first, ...rest] = await askToPay(commissions);
    // The oldest request of a commission goes first, so this one waits for the poisoned one.
    const [later] = await ask({ commission_id: poisoned, action: 'due', due_at: '2026-12-01T00:00:00Z' });

    // A long wait, so that one drain sees it once.
    const slow = { timing: { claimMs: 5000, firstBackoffMs: 60_000 } };
    expect(await drain({ concurrency: 8, ...slow })).toEqual({ ended: { applied: 7 }, deferred: 1 });
    expect(await statesOf(rest)).toEqual(new Set(['applied']));
    const reason =
      /refused to note that it ended as applied \(marked paid at 2026-10-05T12:00:00Z\): .*added_by_dba/;
    expect(await row(first)).toMatchObject({
      state: 'pending',
      attempts: 1,
      claimed_by: null,
      last_error: expect.stringMatching(reason),
    });
    expect((await row(first)).put_sent_at).not.toBeNull();
    // It is the line that is refused, and not the commission.
    expect(await rejectionsOf(poisoned)).toEqual([]);
    expect((await row(later?.id)).state).toBe('pending');

    const { pool } = writer().database;
    let failed = 0;
    while (failed === 0) {
      await pool.query('update commission_updates set next_attempt_at = now() where id = $1', [first]);
      failed = (await drain()).ended.failed ?? 0;
    }
    expect(await row(first)).toMatchObject({
      state: 'failed',
      attempts: 12,
      outcome: expect.stringMatching(reason),
    });
    expect((await program(poisoned)).paid_at).toBe('2026-10-05T12:00:00.000Z');
    await drain();
    // It may never be noted as applied; that it is reached at all is what counts.
    expect((await row(later?.id)).attempts).toBeGreaterThan(0);
    expect(received('PUT').filter(({ url }) => url.includes(poisoned)).length).toBe(2);
    await pool.query(
      `update commission_updates set state = 'cancelled', outcome = 'test', finished_at = now() where id = $1`,
      [later?.id],
    );
  });

  test('before its PUT keeps that PUT from being sent, and no other', async () => {
    const { freshMany, drain, row, received } = writer();
    const commissions = await freshMany(8);
    const ids = await askToPay(commissions);
    await addConstraint('commission_update_attempts', `method <> 'PUT' or update_id <> ${ids[3]}`);
    let failed = 0;
    let applied = 0;
    while (failed === 0) {
      const { ended } = await drain({ concurrency: 8 });
      failed = ended.failed ?? 0;
      applied += ended.applied ?? 0;
    }
    expect(applied).toBe(7);
    expect(received('PUT').length).toBe(7);
    expect(await row(ids[3])).toMatchObject({
      state: 'failed',
      attempts: 12,
      put_sent_at: null,
      outcome: expect.stringMatching(/refused to note that the change is to be sent: .*added_by_dba/),
    });
  });

  test('for a reason that is no row’s own ends the drain, and costs no attempt', async () => {
    const { freshMany, drain, row } = writer();
    const commissions = await freshMany(4);
    const ids = await askToPay(commissions);
    // query_canceled: what a statement timeout says.
    await addTrigger('commission_updates', `new.state = 'applied'`, { errcode: '57014', isLate: false });
    await expect(drain({ concurrency: 4 })).rejects.toMatchObject({ code: '57014' });
    for (const id of ids) expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0 });
    await takeAway();
    // What was claimed can be claimed again when the claim has ended.
    await expect
      .poll(async () => {
        await drain();
        return statesOf(ids);
      })
      .toEqual(new Set(['applied']));
  });

  test('is written without what was read where that is what is refused', async () => {
    const { freshMany, ask, drain, row } = writer();
    const [commission] = await freshMany(1);
    const [asked] = await ask({ commission_id: commission?.id ?? '', action: 'unpay' });
    await addConstraint('commission_updates', `id <> ${asked?.id} or before is null`);
    expect(await drain({ timing: { claimMs: 5000, firstBackoffMs: 60_000 } })).toEqual({
      ended: {},
      deferred: 1,
    });
    expect(await row(asked?.id)).toMatchObject({
      state: 'pending',
      claimed_by: null,
      before: null,
      last_error: expect.stringMatching(/refused to note that it ended as unchanged .*added_by_dba/),
    });
    await takeAway();
    await writer().database.pool.query('update commission_updates set next_attempt_at = now()');
    expect((await drain()).ended).toEqual({ unchanged: 1 });
  });
});
