// The budget where the database's clock was an hour ahead and was put back: nothing of the old time holds requests up.

import { beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { forgetAll, whyWait } from './budgeting.ts';

const { pool } = await createTestDatabase();
const REQUESTS = 10;
const AHEAD = "now() + interval '1 hour'";

beforeEach(() => forgetAll(pool));

test.each([
  ['a pause', `paused_until = ${AHEAD}`],
  ['a lower limit', `limit_requests = 0, limit_until = ${AHEAD}`],
  ['a limit that somebody else uses up', `foreign_requests = ${REQUESTS}, foreign_until = ${AHEAD}`],
  ['a payment that waits', `payments_wait_until = ${AHEAD}`],
])('%s, noted by the old time, is over', async (_, noted) => {
  // As many as reads are left with while a payment waits.
  await pool.query(
    `insert into request_permits (priority, granted_at, expires_at)
     select 'reads', now(), now() + interval '1 minute' from generate_series(1, ${REQUESTS / 5})`,
  );
  await pool.query(`update request_budget set ${noted}`);
  expect(await whyWait(pool, { requests: REQUESTS })).toBeNull();
});

test.each([
  ['a pause', 'paused_until', 'pause'],
  ['a lower limit', 'limit_until', 'window'],
  ['a limit that somebody else uses up', 'foreign_until', 'window'],
])('%s for as long as an answer may name holds', async (_, until, reason) => {
  await pool.query(
    `update request_budget set limit_requests = 0, foreign_requests = ${REQUESTS},
       ${until} = now() + interval '5 minutes'`,
  );
  expect(await whyWait(pool, { requests: REQUESTS })).toBe(reason);
});
