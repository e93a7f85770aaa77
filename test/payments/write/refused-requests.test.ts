// A request whose own row Postgres refuses to write waits, or fails whoever waits for it, and holds up no other.

import { describe, expect, test } from 'vitest';
import { awaitUpdates } from '../../../src/payments/write/await-updates.ts';
import { useRefusals } from './refusing-database.ts';
import { PAID_AT, silent, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 1200 });
const { addConstraint, takeAway, askToPay, statesOf } = useRefusals(writer);

describe('a request whose row breaks a constraint that was added later', () => {
  test('stays pending, and the 10 others end as applied, also those behind it', async () => {
    const { freshMany, drain, row, received } = writer();
    const commissions = await freshMany(12);
    const [first, second, ...rest] = await askToPay(commissions);
    const broken = [first, second].join(', ');
    await addConstraint('commission_updates', `id not in (${broken})`, 'not valid');
    const refused = new Map<number, string>();
    // One at a time, so that the oldest fill every claim.
    const summary = await drain({
      concurrency: 1,
      onRefused: (id, error) => refused.set(id, error.message),
    });
    expect(summary).toEqual({ ended: { applied: 10 }, deferred: 2 });
    expect(await statesOf(rest)).toEqual(new Set(['applied']));
    expect([...refused.keys()]).toEqual([first, second]);
    expect(refused.get(first ?? 0)).toContain('added_by_dba');
    expect(received('PUT').length).toBe(10);

    await takeAway();
    expect(await drain()).toEqual({ ended: { applied: 2 }, deferred: 0 });
    expect((await row(first)).state).toBe('applied');
  });

  test('fails whoever waits for a later one of its commission, which has to wait for it', async () => {
    const { freshMany, ask, api, db, row } = writer();
    const [commission, other] = await freshMany(2);
    const pay = { commission_id: commission?.id ?? '', action: 'pay' as const, paid_at: PAID_AT };
    const [broken] = await ask(pay);
    const later = await ask(
      { ...pay, action: 'due', paid_at: null, due_at: PAID_AT },
      { ...pay, commission_id: other?.id ?? '' },
    );
    await addConstraint('commission_updates', `id <> ${broken?.id}`, 'not valid');
    const waiting = awaitUpdates(
      { api, db, log: silent },
      later.map(({ id }) => id),
      { concurrency: 2, signal: AbortSignal.timeout(20_000) },
    );
    await expect(waiting).rejects.toThrow('added_by_dba');
    expect((await row(later[1]?.id)).state).toBe('applied');
    await takeAway();
    await writer().drain();
  });
});
