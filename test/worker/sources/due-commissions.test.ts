// When payments and polls are due: exactly where a writer could claim one, so that no job is made for nothing.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { trackCommissions } from '../../../src/payments/poll/track-commissions.ts';
import { hasDuePolls } from '../../../src/payments/poll/tracked-commissions.ts';
import { hasDueUpdates, makeClaims } from '../../../src/payments/write/claims.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

let pool: TestDatabase['pool'];
let db: Database;

beforeEach(async () => {
  ({ db, pool } = await createTestDatabase());
});

const ask = () =>
  pool.query(`insert into commission_updates (commission_id, action) values ($1, 'unpay')`, [ID]);

test.each([
  ['is settled', `state = 'applied', outcome = 'done', finished_at = now()`],
  ['waits for its next try', `next_attempt_at = now() + interval '1 minute'`],
  ['is held by a writer', `claimed_by = 'x', claimed_until = now() + interval '1 minute'`],
])('a payment is due, and no longer while it %s', async (_what, change) => {
  expect(await hasDueUpdates(db)).toBe(false);
  await ask();
  expect(await hasDueUpdates(db)).toBe(true);
  await pool.query(`update commission_updates set ${change}`);
  expect(await hasDueUpdates(db)).toBe(false);
});

test('a payment behind an earlier one of the same commission is due after that one', async () => {
  await ask();
  await ask();
  await pool.query(
    `update commission_updates set next_attempt_at = now() + interval '1 hour'
     where id = (select min(id) from commission_updates)`,
  );
  expect(await hasDueUpdates(db)).toBe(false);
  await pool.query(`update commission_updates set next_attempt_at = now()`);
  expect(await hasDueUpdates(db)).toBe(true);
});

test('a claim reads each pending request once or twice, though the table was never analyzed', async () => {
  await pool.query(`alter table commission_updates set (autovacuum_enabled = off)`);
  await pool.query(
    `insert into commission_updates (commission_id, action)
     select gen_random_uuid(), 'unpay' from generate_series(1, 1000)`,
  );
  const read = await db.transaction().execute(async (trx) => {
    const onRefused = () => undefined;
    expect(await makeClaims(trx, { name: 'w', claimMs: 60_000, onRefused }).claim(24)).toHaveLength(24);
    const { rows } = await sql<{ read: number }>`
      select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables
      where relid = 'commission_updates'::regclass
    `.execute(trx);
    return rows[0]?.read;
  });
  expect(read).toBeGreaterThanOrEqual(1000);
  expect(read).toBeLessThan(3000);
});

test('a tracked commission is due when its time has come, and never where it is gone', async () => {
  expect(await hasDuePolls(db)).toBe(false);
  await trackCommissions(db, [ID], 'test');
  expect(await hasDuePolls(db)).toBe(true);
  for (const next of [`now() + interval '1 minute'`, 'null']) {
    await pool.query(`update tracked_commissions set next_poll_at = ${next}`);
    expect(await hasDuePolls(db)).toBe(false);
  }
});
