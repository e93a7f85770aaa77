// The poller beside a row that the mirror cannot hold.

import { expect, test } from 'vitest';
import { trackCommissions } from '../../../src/payments/poll/track-commissions.ts';
import { pollTracked } from '../../../src/payments/poll/tracked-commissions.ts';
import { useRefusals } from '../write/refusing-database.ts';
import { silent, useWriter } from '../write/start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 1200 });
const { addConstraint, takeAway, freshWithPoisoned, rejectionsOf } = useRefusals(writer);

test('the poller mirrors the neighbours of a row that the mirror cannot hold, and says once what is wrong with it, by its newest answer', async () => {
  const { db, api, database } = writer();
  const { poisoned, others, commissions, referralId } = await freshWithPoisoned(25);
  await addConstraint('referrals', `id <> '${referralId}'`);
  await trackCommissions(
    db,
    commissions.map(({ id }) => id),
    null,
  );
  const poll = async () => {
    await database.pool.query(
      'update tracked_commissions set next_poll_at = now() where commission_id = $1',
      [poisoned?.id],
    );
    return await pollTracked({ client: api, db, log: silent }, { signal: AbortSignal.timeout(100_000) });
  };
  const tracked = async () => {
    const { rows } = await database.pool.query(
      `select last_error, last_polled_at is not null as was_answered, next_poll_at > now() as waits
       from tracked_commissions where commission_id = $1`,
      [poisoned?.id],
    );
    return rows;
  };
  expect(await poll()).toMatchObject({ polled: 24, failed: 1 });
  const before = await rejectionsOf(poisoned?.id);
  const mirrored = 'select from commissions where id = any($1)';
  expect((await database.pool.query(mirrored, [others.map(({ id }) => id)])).rowCount).toBe(24);
  expect(await tracked()).toMatchObject([
    { last_error: expect.stringContaining('added_by_dba'), was_answered: true, waits: true },
  ]);
  expect(await poll()).toMatchObject({ polled: 0, failed: 1 });
  const again = await rejectionsOf(poisoned?.id);
  expect(again.length).toBe(1);
  expect(again[0]?.observed_at).not.toBe(before[0]?.observed_at);

  await takeAway();
  expect(await poll()).toMatchObject({ polled: 1, failed: 0 });
  expect(await tracked()).toMatchObject([{ last_error: null }]);
});
