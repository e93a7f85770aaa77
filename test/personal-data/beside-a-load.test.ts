// Whatever rewrites the mirror, or takes over a mode, waits for a load that is under way, and sees what that brought; a
// load waits for it, too.

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { lockForLoading } from '../../src/mirror/load-batch.ts';
import { adoptMode } from '../../src/personal-data/adopt-mode.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { readState } from '../../src/personal-data/stored-state.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { buildAffiliate } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
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
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  const mayLoad = Promise.withResolvers<void>();
  const hasRight = Promise.withResolvers<void>();
  const loading = db.transaction().execute(async (trx) => {
    await lockForLoading(trx, { isAlone: false, runId: null });
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
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
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

test('a small load waits for no other small load, and one that is alone waits for it', async () => {
  const { pool } = await createTestDatabase();
  const db = makeDatabase(pool);
  const lock = (isAlone: boolean) =>
    db.transaction().execute((trx) => lockForLoading(trx, { isAlone, runId: null }));
  let alone: Promise<void> | undefined;
  await db.transaction().execute(async (trx) => {
    await lockForLoading(trx, { isAlone: false, runId: null });
    const small = lock(false);
    await expect(Promise.race([small, sleep(5000, 'it waits')])).resolves.toBeUndefined();
    alone = lock(true);
    await expect.poll(() => countWaiting(pool), { timeout: 10_000 }).toBe(1);
  });
  await alone;
});
