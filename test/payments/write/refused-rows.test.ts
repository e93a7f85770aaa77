// A row that the mirror cannot hold fails the one request that it is about, and none beside or after it.

import { describe, expect, test } from 'vitest';
import { useRefusals } from './refusing-database.ts';
import { useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 1200 });
const { addConstraint, addTrigger, freshWithPoisoned, askToPay, rejectionsOf, mirroredAmong } =
  useRefusals(writer);

describe('a row that the mirror cannot hold', () => {
  test('is rejected with its reason; its payment and the 39 others end as applied, each sent once', async () => {
    const { drain, row, received, program } = writer();
    const { poisoned, others, commissions, referralId } = await freshWithPoisoned(40);
    await addConstraint('referrals', `id <> '${referralId}'`);
    const [first, ...rest] = await askToPay(commissions);

    expect(await drain({ concurrency: 24 })).toEqual({ ended: { applied: 40 }, deferred: 0 });

    expect(received('PUT').length).toBe(40);
    expect(await row(first)).toMatchObject({
      state: 'applied',
      attempts: 0,
      after: { paid_at: '2026-10-05T12:00:00.000Z' },
      note: expect.stringMatching(/the mirror could not store the answer.*rejected_records.*added_by_dba/),
    });
    expect((await program(poisoned?.id ?? '')).paid_at).toBe('2026-10-05T12:00:00.000Z');
    expect(await rejectionsOf(poisoned?.id)).toMatchObject([
      {
        run_id: null,
        reason: expect.stringContaining('added_by_dba'),
        payload: { id: poisoned?.id, sale: { referral: { id: referralId } } },
      },
    ]);
    expect(await mirroredAmong(others)).toBe(39);
    for (const id of rest) expect(await row(id)).toMatchObject({ state: 'applied', note: null });
  });

  test('is rejected also where only the end of the transaction refuses it', async () => {
    const { drain, row, received } = writer();
    const { poisoned, others, commissions, referralId } = await freshWithPoisoned(5);
    const condition = `new.id = '${referralId}'`;
    await addTrigger('referrals', condition, { errcode: 'P0001', isLate: true });
    const [first] = await askToPay(commissions);
    expect(await drain()).toMatchObject({ ended: { applied: 5 } });
    expect(received('PUT').length).toBe(5);
    expect((await row(first)).note).toContain('the database refused it (SQLSTATE P0001)');
    expect(await rejectionsOf(poisoned?.id)).toMatchObject([
      { reason: 'the database refused it (SQLSTATE P0001)' },
    ]);
    expect(await mirroredAmong(others)).toBe(4);
  });
});
