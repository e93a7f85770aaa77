// A person is forgotten while somebody notes a payment: it is waited for, in an order in which neither waits for the
// other, and then looked through as well.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { lockForLoading } from '../../src/mirror/load-batch.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';

const EMAIL = 'maria@people.example';

test('a payment that is being noted beside a forgetting is noted, and keeps no word of the person', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  await pool.query(
    `insert into commission_updates (commission_id, action) values ('0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11', 'unpay')`,
  );
  const held = Promise.withResolvers<void>();
  const isWaitedFor = Promise.withResolvers<void>();
  // As a writer of payments does: the request first, and then the right to load.
  const paying = db.transaction().execute(async (trx) => {
    await sql`update commission_updates set outcome = ${`no such ${EMAIL}`}`.execute(trx);
    held.resolve();
    await isWaitedFor.promise;
    await lockForLoading(trx, { isAlone: false, runId: null });
  });
  await held.promise;
  const forgetting = forgetPerson(db, { mode: 'plain', key: null }, { who: EMAIL, by: 'privacy' });
  await expect.poll(() => countWaiting(pool)).toBe(1);
  isWaitedFor.resolve();
  await paying;
  await forgetting;
  const { rows } = await pool.query('select outcome from commission_updates');
  expect(rows).toEqual([{ outcome: expect.not.stringContaining('maria') }]);
});
