import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Commission } from '../../src/contract/commission.ts';
import { readNow } from '../../src/db/clock.ts';
import type { Database } from '../../src/db/database.ts';
import { findMissing } from '../../src/mirror/find-missing.ts';
import { makeSeenRows, readSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { markCommissionsDeleted, mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildAffiliate, buildCommission, buildReferral, buildSale } from './build-records.ts';
import { lastStamp } from './change-stamps.ts';
import { at, bury, counts, load, rowsOf } from './load.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

const resource = 'referrals' as const;
test('missing is what existed before the run and was neither met, rejected, nor observed by anyone since', async () => {
  const [met, rejected, gone, later, buried] = Array.from({ length: 5 }, () => buildReferral());
  const past = '2020-01-01T00:00:00Z';
  await load(db, { resource, pages: [{ observedAt: past, records: [met, rejected, gone, later, buried] }] });
  await bury(db, resource, [String(buried?.id)], past);
  const run = await startRun(db, { resource, mode: 'full' });
  const since = await readNow(db);
  const records = [met, { ...rejected, visits: 'x' }];
  await load(db, { resource, runId: run.id, pages: [{ observedAt: since, records }] });
  // Somebody else meets one, and somebody else's is new.
  await load(db, {
    resource,
    pages: [{ observedAt: since, records: [{ ...later, visits: 8 }, buildReferral()] }],
  });
  const seen = await readSeenRows(db, run.id);
  expect(await findMissing(db, { runId: run.id, resource, seen })).toEqual({ living: 5, ids: [gone?.id] });
});

test('a row whose number lies beyond every row that the run has met is missing like any other', async () => {
  const [near, edge, far, last] = [buildReferral(), buildReferral(), buildReferral(), buildReferral()];
  await load(db, { resource, pages: [{ observedAt: at(1), records: [near] }] });
  const seen = makeSeenRows();
  const beyond = seen.bits().length * 8;
  await sql`alter table referrals alter column _row_number restart with ${sql.lit(beyond - 1)}`.execute(db);
  for (const record of [edge, far, last])
    await load(db, { resource, pages: [{ observedAt: at(1), records: [record] }] });
  const run = await startRun(db, { resource, mode: 'full' });
  const missing = () => findMissing(db, { runId: run.id, resource, seen });
  expect(await missing()).toEqual({ living: 4, ids: [near.id, edge.id, far.id, last.id].sort() });
  seen.add({ rowNumbers: [beyond - 1], rejectedIds: [], unnamedLinks: [] });
  expect(await missing()).toEqual({ living: 4, ids: [near.id, far.id, last.id].sort() });
  seen.add({ rowNumbers: [beyond], rejectedIds: [], unnamedLinks: [] });
  expect(await missing()).toEqual({ living: 4, ids: [near.id, last.id].sort() });
  seen.add({ rowNumbers: [1], rejectedIds: [], unnamedLinks: [] });
  expect(await missing()).toEqual({ living: 4, ids: [last.id] });
});

test('marking a row deleted keeps every other column, happens once, and spares what was observed later', async () => {
  const [gone, alive] = [buildReferral(), buildReferral()];
  await load(db, { resource, pages: [{ observedAt: at(1), records: [gone] }] });
  await load(db, { resource, pages: [{ observedAt: at(9), records: [alive] }] });
  const before = await rowsOf(db, resource);
  const apply = () => bury(db, resource, [gone.id, alive.id], at(5));
  expect(await apply()).toBe(1);
  expect(await apply()).toBe(0);
  const time = '2026-07-01T00:00:05Z';
  const changedAt = await lastStamp(db);
  expect(await rowsOf(db, resource)).toEqual(
    before.map((row) =>
      row['id'] === gone.id ? { ...row, _deleted_at: time, _changed_at: changedAt, _observed_at: time } : row,
    ),
  );
});

test('a page read before the deletion was confirmed does not bring the row back, one read after it does', async () => {
  const referral = buildReferral();
  const pages = (second: number) => [{ observedAt: at(second), records: [referral] }];
  await load(db, { resource, pages: pages(1) });
  await bury(db, resource, [referral.id], at(5));
  await load(db, { resource, pages: pages(4) });
  expect(await rowsOf(db, resource)).toMatchObject([{ _deleted_at: '2026-07-01T00:00:05Z' }]);
  expect(counts(await load(db, { resource, pages: pages(6) })).updated).toBe(1);
  expect(await rowsOf(db, resource)).toMatchObject([{ _deleted_at: null }]);
});

test('a sale goes with the last living commission that has it, and keeps its time where that is newer', async () => {
  const commissions = 'commissions' as const;
  const sale = buildSale();
  const [first, last] = [buildCommission({ sale }), buildCommission({ sale })];
  await load(db, { resource: commissions, pages: [{ observedAt: at(1), records: [first, last] }] });
  const changed = { ...first, sale: { ...sale, refund_amount_cents: 100 } };
  await load(db, { resource: commissions, pages: [{ observedAt: at(9), records: [changed] }] });
  const salesWithout = async ({ id }: { id: string }, second = 5) => {
    await bury(db, commissions, [id], at(second));
    return rowsOf(db, 'sales');
  };
  const observed = { refund_amount_cents: 100, _observed_at: '2026-07-01T00:00:09Z' };
  expect(await salesWithout(first)).toMatchObject([{ ...observed, _deleted_at: null }]);
  const buried = await salesWithout(last);
  expect(buried).toMatchObject([{ ...observed, _deleted_at: '2026-07-01T00:00:05Z' }]);
  expect(await salesWithout(last, 7)).toEqual(buried);
});

test('a sale of several commissions goes with them at the time at which the last of them was found gone', async () => {
  const sale = buildSale();
  const records = [buildCommission({ sale }), buildCommission({ sale })];
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records }] });
  const gone = records.map(({ id }, index) => ({ id, askedAt: at(5 + index) }));
  await db.transaction().execute((trx) => markCommissionsDeleted(trx, gone));
  const last = '2026-07-01T00:00:06Z';
  expect(await rowsOf(db, 'sales')).toMatchObject([{ _deleted_at: last, _observed_at: last }]);
});

test('a commission that is read by itself with another sale, or without one, leaves no sale behind', async () => {
  const commission = buildCommission();
  const show = (second: number, sale: object | null) =>
    db
      .transaction()
      .execute((trx) =>
        mirrorCommissions(trx, [
          { commission: { ...commission, sale } as Commission, observedAt: at(second) },
        ]),
      );
  const gone = async () => new Map((await rowsOf(db, 'sales')).map((row) => [row['id'], row['_deleted_at']]));
  const [first, second] = [buildSale(), buildSale()];
  await show(1, first);
  await show(2, second);
  expect(await gone()).toEqual(
    new Map([
      [first.id, '2026-07-01T00:00:02Z'],
      [second.id, null],
    ]),
  );
  await show(3, null);
  expect((await gone()).get(second.id)).toBe('2026-07-01T00:00:03Z');
  await show(4, first);
  expect((await gone()).get(first.id)).toBe(null);
});

test('an affiliate that referrals still name stays deleted until its own list has it again', async () => {
  const affiliate = buildAffiliate();
  const isDeleted = async () => (await rowsOf(db, 'affiliates')).map((row) => row['_deleted_at'] !== null);
  const list = (second: number) =>
    load(db, { resource: 'affiliates', pages: [{ observedAt: at(second), records: [affiliate] }] });
  await list(1);
  await bury(db, 'affiliates', [affiliate.id], at(2));
  const records = [buildReferral({ affiliate: { ...affiliate, first_name: 'Renamed' } })];
  await load(db, { resource, pages: [{ observedAt: at(3), records }] });
  expect(await isDeleted()).toEqual([true]);
  await list(4);
  expect(await isDeleted()).toEqual([false]);
});
