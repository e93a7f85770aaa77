// A worker whose address or secret is that of another account, on both queues: it pauses as at a refused secret, and
// goes on by itself once the API serves the mirror's account again.

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
    const { rows: living } = await pool.query('select id from referrals order by id');

    await pool.query(`update worker_state set probed_at = now() - interval '1 minute'`);
    await pool.query(
      "update sync_runs set finished_at = now() - interval '3 days', started_at = now() - interval '3 days'",
    );
    const paused = await queueing.start({ apiUrl: other.url, syncs });
    await paused.says('program.changed');
    const readState = () =>
      pool
        .query(
          `select refused_code, (select count(*)::int from sync_runs where finished_at > now() - interval '1 day') as runs
           from worker_state`,
        )
        .then(({ rows }) => rows[0]);
    expect(await readState()).toEqual({ refused_code: 'PROGRAM_CHANGED', runs: 0 });
    await paused.end('SIGTERM');
    expect((await pool.query('select id from referrals where _deleted_at is null order by id')).rows).toEqual(
      living,
    );

    await pool.query(`update worker_state set probed_at = now() - interval '1 minute'`);
    const fixed = await queueing.start({ syncs });
    await fixed.says('program.secret_accepted');
    await expect.poll(readState).toEqual({ refused_code: null, runs: 2 });
    await fixed.end('SIGTERM');
    await own.close();
    await other.close();
  },
);
