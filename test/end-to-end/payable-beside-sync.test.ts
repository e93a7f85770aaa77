// What `commissions payable` says where a sync ends in the middle of it.

import { expect, test } from 'vitest';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

test('what is listed is never older than what it is said to cover', async () => {
  const { pool, url } = await createTestDatabase();
  await pool.query(
    `update optional_lists set is_served = true, found_at = now(), found_by = 'a test' where resource = 'commissions'`,
  );
  const sync = await pool.connect();
  // What is covered is read from this table too: so the sync ends before that, or in between.
  await sync.query(
    'begin; set local idle_in_transaction_session_timeout = 0; lock table tracked_commissions',
  );
  const payable = runCli(['commissions', 'payable'], { DATABASE_URL: url });
  await expect.poll(() => countWaiting(pool), { timeout: 60_000 }).toBe(1);
  await sync.query(`
    insert into commissions (id, amount, currency, due_at, _first_seen_at, _changed_at, _observed_at)
    values ('new', 8395, 'EUR', '2026-01-01T00:00:00Z', now(), now(), now());
    insert into sync_runs (resource, mode, state, verified, started_at, finished_at)
    values ('commissions', 'full', 'succeeded', true, now(), now());
    commit`);
  sync.release();
  const { stdout } = await payable;
  expect(stdout).toContain('covers all 1 commission of the program');
  expect(stdout).toContain('1 commission is payable by now');
});
