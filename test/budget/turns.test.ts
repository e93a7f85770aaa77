// Processes take turns at the budget by the lock on its one row: what one of them is granted, the next one counts.

import { beforeEach, expect, test } from 'vitest';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll } from './budgeting.ts';

const { pool } = await createTestDatabase();
/** One request a minute. */
const TAKE = `select permit_id, wait_for from take_permit('reads', 1, 60, 0.2)`;

beforeEach(() => forgetAll(pool));

test('whoever asks while another one is granted a permit waits for that, and counts it', async () => {
  const first = await pool.connect();
  const second = await pool.connect();
  try {
    await first.query('begin');
    expect((await first.query(TAKE)).rows).toMatchObject([{ wait_for: null }]);
    await second.query('begin');
    await second.query(`set local lock_timeout = '10ms'`);
    // 55P03: it waited for the lock.
    await expect(second.query(TAKE)).rejects.toMatchObject({ code: '55P03' });
    await second.query('rollback');
    await first.query('commit');
    expect((await second.query(TAKE)).rows).toEqual([{ permit_id: null, wait_for: 'window' }]);
  } finally {
    first.release();
    second.release();
  }
});

test('an answer takes its turn before it touches its permit: whoever clears that away meets it nowhere', async () => {
  const { rows } = await pool.query<{ id: number }>(
    `insert into request_permits (priority, granted_at, expires_at)
     values ('reads', now() - interval '5 minutes', now() - interval '2 minutes') returning id`,
  );
  const asking = await pool.connect();
  try {
    await asking.query('begin');
    await asking.query('select from request_budget for update');
    const returning = pool.query('select return_permit($1, 60, 1, false, null, null, null, 60)', [
      rows[0]?.id,
    ]);
    await expect.poll(() => countWaiting(pool)).toBe(1);
    // Clears away what expired a minute ago.
    const [taken] = await Promise.allSettled([asking.query(TAKE)]);
    await asking.query('commit');
    expect(taken).toMatchObject({ status: 'fulfilled', value: { rows: [{ wait_for: null }] } });
    await expect(returning).resolves.toMatchObject({ rowCount: 1 });
  } finally {
    asking.release();
  }
});
