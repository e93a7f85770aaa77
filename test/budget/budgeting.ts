// What the tests of the budget share: a budget of which nothing is known, whether it grants, and the passing of time.

import type { AnsweredLimits } from '../../src/api/permit.ts';
import type { Priority } from '../../src/budget/waits.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';

/** An answer whose headers say nothing. */
export const SILENT: AnsweredLimits = { throttled: false, limit: null, remaining: null, resetMs: null };

/** Has the budget know of no request and of no limit. */
export async function forgetAll(pool: Pool): Promise<void> {
  await pool.query('truncate request_permits; delete from request_budget');
  await pool.query('insert into request_budget default values');
}

/** Returns why the next request would have to wait; null where it would not. Grants nothing. */
export async function whyWait(
  pool: Pool,
  { requests, priority = 'reads' }: { requests: number; priority?: Priority },
): Promise<string | null> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query('select wait_for from take_permit($1, $2, 100, 0.2)', [
      priority,
      requests,
    ]);
    return rows[0].wait_for;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** Lets so many seconds pass for everything that the budget remembers. */
export async function pass(pool: Pool, seconds: number): Promise<void> {
  await pool.query(
    `update request_budget set limit_until = limit_until - $1::float8 * interval '1 second',
       foreign_until = foreign_until - $1::float8 * interval '1 second',
       paused_until = paused_until - $1::float8 * interval '1 second',
       payments_wait_until = payments_wait_until - $1::float8 * interval '1 second'`,
    [seconds],
  );
  await pool.query(
    `update request_permits set granted_at = granted_at - $1::float8 * interval '1 second',
       returned_at = returned_at - $1::float8 * interval '1 second',
       expires_at = expires_at - $1::float8 * interval '1 second'`,
    [seconds],
  );
}
