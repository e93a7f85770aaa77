// A worker whose address or secret is that of another account, on both queues: it pauses as at a refused secret, no
// payment ends, and it goes on by itself once the API serves the mirror's account again.

import { expect, test } from 'vitest';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { sized } from '../support/sizes.ts';
import { DAILY, KINDS, makeQueueing, untilSynced, wantFullSync } from './queueing.ts';

test.each(sized(KINDS.slice(0, 1), KINDS.slice(1)))(
  'a worker pauses at another account and goes on at its own, on %s',
  async (kind) => {
    const own = await runSandbox((await createTestDatabase()).pool, { affiliates: 5, referrals: 40 });
    const other = await runSandbox((await createTestDatabase()).pool, {
      affiliates: 5,
      referrals: 40,
      seed: 99,
    });
    const queueing = await makeQueueing(kind, own);
    const { pool } = queueing;
    const syncs = { full: DAILY, delta: null, timezone: 'UTC' };
    const before = await queueing.start({ syncs });
    await wantFullSync(queueing);
    await untilSynced(queueing);
    await before.end('SIGTERM');
    console.log('synced', new Date());
    const { rows: living } = await pool.query('select id from referrals order by id');

    const [commission] = await pool
      .query(`insert into commission_updates (commission_id, action, paid_at)
        values ('3f0a4f0e-6a39-4a79-8d05-000000000001', 'pay', now()) returning id`)
      .then(({ rows }) => rows);
    await pool.query(`update worker_state set probed_at = now() - interval '1 minute'`);
    await pool.query(
      "update sync_runs set finished_at = now() - interval '3 days', started_at = now() - interval '3 days'",
    );
    const paused = await queueing.start({ apiUrl: other.url, syncs });
    await paused.says('program.changed');
    console.log('changed', new Date());
    const state = () =>
      pool
        .query(`select w.refused_code, u.state from worker_state w, commission_updates u where u.id = $1`, [
          commission.id,
        ])
        .then(({ rows }) => rows[0]);
    expect(await state()).toEqual({ refused_code: 'PROGRAM_CHANGED', state: 'pending' });
    await paused.end('SIGTERM');
    expect((await pool.query('select id from referrals where _deleted_at is null order by id')).rows).toEqual(
      living,
    );

    await pool.query(`update worker_state set probed_at = now() - interval '1 minute'`);
    const fixed = await queueing.start({ syncs });
    await fixed.says('program.secret_accepted');
    console.log('accepted', new Date());
    await expect.poll(state).toEqual({ refused_code: null, state: 'not_found' });
    await fixed.end('SIGTERM');
    await own.close();
    await other.close();
  },
);
