// Rows that were observed while the clock of Postgres was ahead, which was put back since: what is read now is newer.

import { beforeEach, expect, test } from 'vitest';
import { markCommissionsDeleted } from '../../src/commissions/mirror-commissions.ts';
import { readNow } from '../../src/db/clock.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { findMissing, markDeleted } from '../../src/mirror/mark-deleted.ts';
import { makeSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildCommission, buildReferral } from './build-records.ts';
import { load, rowsOf } from './load.ts';

const FUTURE = '2999-01-01T00:00:00Z';
const resource = 'referrals' as const;

let db: Database;

beforeEach(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

test('a row takes what is read of it now', async () => {
  const referral = buildReferral({ visits: 1 });
  await load(db, { resource, pages: [{ observedAt: FUTURE, records: [referral] }] });
  const now = await readNow(db);
  await load(db, { resource, pages: [{ observedAt: now, records: [{ ...referral, visits: 2 }] }] });
  expect(await rowsOf(db, resource)).toMatchObject([{ visits: 2, _observed_at: now }]);
});

test('a row that a run does not meet is missing, and is marked deleted', async () => {
  const { id } = buildReferral();
  await load(db, { resource, pages: [{ observedAt: FUTURE, records: [buildReferral({ id })] }] });
  const run = await startRun(db, { resource, mode: 'full' });
  const { ids } = await findMissing(db, { runId: run.id, resource, seen: makeSeenRows() });
  expect(ids).toEqual([id]);
  const observedAt = await readNow(db);
  const marked = await db
    .transaction()
    .execute((trx) => markDeleted(trx, { runId: run.id, resource, ids, observedAt }));
  expect(marked).toBe(1);
});

test('a commission that the program has no longer is marked deleted', async () => {
  const { id, ...fields } = buildCommission();
  await load(db, { resource: 'commissions', pages: [{ observedAt: FUTURE, records: [{ ...fields, id }] }] });
  const gone = [{ id: String(id), askedAt: await readNow(db) }];
  await db.transaction().execute((trx) => markCommissionsDeleted(trx, gone));
  expect(await rowsOf(db, 'commissions')).toMatchObject([{ _deleted_at: expect.any(String) }]);
});
