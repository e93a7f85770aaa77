// What rewrites the mirror, or takes over a mode, waits for a load that is under way, and sees what that brought; a
// load waits for it, too.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { lockForLoading } from '../../../src/mirror/load-lock.ts';
import { forgetPerson } from '../../../src/mirror/people/forget-person.ts';
import { readState } from '../../../src/mirror/people/stored-state.ts';
import { adoptMode, switchMode } from '../../../src/mirror/people/switch-mode.ts';
import { countWaiting } from '../../support/count-waiting.ts';
import { createTestDatabase } from '../../support/database.ts';
import { buildAffiliate } from '../build-records.ts';
import { at, load } from '../load.ts';
import { OMIT, PLAIN } from './marked-program.ts';

const EMAIL = 'maria@people.example';

test.each<[string, (db: Database) => Promise<unknown>, { mode: string; email: string | null }]>([
  [
    'a person who is forgotten',
    (db) => forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' }),
    { mode: 'plain', email: null },
  ],
  ['a switch', (db) => switchMode(db, OMIT), { mode: 'omit', email: null }],
  // It is no new mirror any more.
  ['a mode that is taken over', (db) => adoptMode(db, OMIT), { mode: 'plain', email: EMAIL }],
])('%s waits for a load, however small', async (_, rewrite, { mode, email }) => {
  const { db, pool } = await createTestDatabase();
  const mayLoad = Promise.withResolvers<void>();
  const hasRight = Promise.withResolvers<void>();
  const loading = db.transaction().execute(async (trx) => {
    await lockForLoading(trx, { runId: null });
    hasRight.resolve();
    await mayLoad.promise;
    await sql`
      insert into affiliates (id, created_at, email, _first_seen_at, _changed_at, _observed_at)
      values ('some', now(), ${EMAIL}, now(), now(), now())
    `.execute(trx);
  });
  await hasRight.promise;
  const rewriting = rewrite(db);
  try {
    await expect.poll(() => countWaiting(pool), { timeout: 10_000 }).toBe(1);
  } finally {
    mayLoad.resolve();
    await Promise.all([loading, rewriting]);
  }
  expect((await pool.query('select email from affiliates')).rows).toEqual([{ email }]);
  expect(await readState(db)).toMatchObject({ mode });
});

test('a load that waited for a person to be forgotten stores nothing of the person, though it read before', async () => {
  const { db, pool } = await createTestDatabase();
  const blocker = await pool.connect();
  await blocker.query('begin; lock table mirror.links in share mode');
  const forgetting = forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  await expect.poll(() => countWaiting(pool), { timeout: 10_000 }).toBe(1);
  const records = [buildAffiliate({ email: EMAIL }), buildAffiliate({ email: 'other@people.example' })];
  const loading = load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records }] });
  await expect.poll(() => countWaiting(pool), { timeout: 10_000 }).toBe(2);
  await blocker.query('commit');
  blocker.release();
  await Promise.all([forgetting, loading]);
  const { rows } = await pool.query('select email from affiliates order by email');
  expect(rows).toEqual([{ email: 'other@people.example' }, { email: null }]);
});

// Neither waits for the other: the forgetting waits for the payment, and then looks through it as well.
test('a payment that is being noted beside a forgetting is noted, and keeps no word of the person', async () => {
  const { db, pool } = await createTestDatabase();
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
    await lockForLoading(trx, { runId: null });
  });
  await held.promise;
  const forgetting = forgetPerson(db, PLAIN, { who: EMAIL, by: 'privacy' });
  await expect.poll(() => countWaiting(pool)).toBe(1);
  isWaitedFor.resolve();
  await paying;
  await forgetting;
  const { rows } = await pool.query('select outcome from commission_updates');
  expect(rows).toEqual([{ outcome: expect.not.stringContaining('maria') }]);
});
