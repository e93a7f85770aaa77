// What moves the stamp of a row (_changed_at), and what does not.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { loadBatch } from '../../src/mirror/load-batch.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { readPages } from '../../src/records/read-page.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildCommission, buildReferral } from './build-records.ts';
import { byTime, lastStamp, stampOf } from './change-stamps.ts';
import { at, load, rowsOf } from './load.ts';

const database = await createTestDatabase();
const db = makeDatabase(database.pool);

const commission = buildCommission();
const other = buildCommission();

beforeEach(async () => {
  await sql`truncate campaigns, affiliates, links, referrals, sales, commissions, record_history`.execute(db);
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records: [commission, other] }] });
});

/** When the changes in the history were observed. */
async function observations(): Promise<string[]> {
  const { rows } = await sql<{ observed_at: string }>`
    select observed_at from record_history where change <> 'inserted' order by id`.execute(db);
  return rows.map((row) => row.observed_at);
}

describe('what is changed by hand', () => {
  const rowOf = async (id: string) => (await rowsOf(db, 'commissions')).find((row) => row['id'] === id);

  test('is stamped, whatever it sets _changed_at to and whatever its session looks like', async () => {
    const untouched = await rowOf(other.id);
    for (const assignment of [
      'amount = 1',
      `amount = 2, _changed_at = '2001-01-01'`,
      `_changed_at = '2999-01-01'`,
    ]) {
      const before = await rowOf(commission.id);
      await transact(db, async (trx) => {
        await sql`set local search_path to pg_catalog`.execute(trx);
        await sql`set local timezone to 'Asia/Tokyo'`.execute(trx);
        await sql`set local datestyle to 'German'`.execute(trx);
        await sql`update mirror.commissions set ${sql.raw(assignment)} where id = ${commission.id}`.execute(
          trx,
        );
      });
      const after = await rowOf(commission.id);
      expect(after?.['_changed_at']).toBe(await lastStamp(db));
      expect(byTime(after?.['_changed_at'] as string, before?.['_changed_at'] as string)).toBe(1);
    }
    expect(await rowOf(other.id)).toEqual(untouched);
    const { rows } = await sql`
      select after, recorded_at from record_history where record_id = ${commission.id} and change = 'updated' order by id`.execute(
      db,
    );
    expect(rows).toMatchObject([{ after: { amount: 1 } }, { after: { amount: 2 } }]);
  });

  test('is stamped where it is inserted, and shares a row of the history with what was inserted with it', async () => {
    await sql`
      insert into commissions (id, _first_seen_at, _changed_at, _observed_at)
      select 'by-hand-' || n, ${at(1)}, '2001-01-01', ${at(1)} from generate_series(1, 2) n`.execute(db);
    const row = await rowOf('by-hand-1');
    expect(row?.['_changed_at']).toBe(await lastStamp(db));
    const { rows } = await sql`
      select record_ids, recorded_at from record_history
      where change = 'inserted' and 'by-hand-1' = any(record_ids)`.execute(db);
    expect(rows).toEqual([{ record_ids: ['by-hand-1', 'by-hand-2'], recorded_at: row?.['_changed_at'] }]);
  });

  test('is in the history as observed when it was made, so that before it nothing of it is known', async () => {
    const now = async () =>
      (await sql<{ now: string }>`select clock_timestamp() as now`.execute(db)).rows[0]?.now ?? '';
    const referral = buildReferral({ visits: 2 });
    const visitsAt = async (moment: string) => {
      const { rows } = await sql<{ visits: number }>`
        select visits from referrals_at(${moment}) where id = ${referral.id}`.execute(db);
      return rows.map(({ visits }) => visits);
    };
    await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [referral] }] });
    const moments = [await now()];
    for (const assignments of [['visits = 3', 'visits = 4'], ["visits = 5, _changed_at = '2001-01-01'"]]) {
      await transact(db, async (trx) => {
        for (const assignment of assignments) {
          await sql`update referrals set ${sql.raw(assignment)} where id = ${referral.id}`.execute(trx);
        }
      });
      moments.push(await now());
    }
    expect(await Promise.all(moments.map(visitsAt))).toEqual([[2], [4], [5]]);
    const inOrder = [moments[0] ?? '', ...(await observations())];
    expect(inOrder.toSorted(byTime)).toEqual(inOrder);
  });

  test('was observed when it says so itself', async () => {
    await sql`update commissions set amount = 7, _observed_at = ${at(4)} where id = ${commission.id}`.execute(
      db,
    );
    expect(await observations()).toEqual(['2026-07-01T00:00:04Z']);
  });

  test('keeps its stamp where it changes nothing', async () => {
    const before = await rowsOf(db, 'commissions');
    const clock = await lastStamp(db);
    await sql`update commissions set amount = amount, _observed_at = _observed_at`.execute(db);
    expect(await rowsOf(db, 'commissions')).toEqual(before);
    expect(await lastStamp(db)).toBe(clock);
  });
});

test('what a load changes was observed when its request was sent, also where that is when the row was', async () => {
  await load(db, {
    resource: 'commissions',
    pages: [{ observedAt: at(1), records: [{ ...commission, amount: 5 }] }],
  });
  expect(await observations()).toEqual(['2026-07-01T00:00:01Z']);
});

test('deletion and return move the stamp of a record, its links’ included', async () => {
  const referral = buildReferral();
  const stamps = async () =>
    (await Promise.all((['referrals', 'links'] as const).map((table) => rowsOf(db, table)))).map(
      (rows, index) => rows.find(({ id }) => id === [referral.id, referral.link.id][index])?.['_changed_at'],
    );
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [referral] }] });
  const first = await stamps();
  await transact(db, (trx) =>
    markDeleted(trx, { runId: null, resource: 'referrals', ids: [referral.id], observedAt: at(2) }),
  );
  const second = await stamps();
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(3), records: [referral] }] });
  const third = await stamps();
  for (const [before, after] of [
    [first, second],
    [second, third],
  ] as const) {
    expect(after.map((stamp, index) => byTime(stamp as string, before[index] as string))).toEqual([1, 1]);
  }
});

test('a read that shows nothing new takes no stamp, also where it notes when it was made', async () => {
  await transact(db, async (trx) => {
    const page = { observedAt: at(5), records: [commission, other] };
    const read = readPages({ cache: null, drift: null }, 'commissions', [page]);
    await loadBatch(trx, { run: null, resource: 'commissions', pages: [read] });
    expect(await stampOf(trx)).toBeNull();
  });
  const before = await lastStamp(db);
  const many = Array.from({ length: 30 }, () => buildCommission());
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(1), records: many }] });
  const changed = await rowsOf(db, 'commissions');
  expect(await lastStamp(db)).not.toBe(before);
  await load(db, { resource: 'commissions', pages: [{ observedAt: at(9), records: many }], touch: true });
  const touched = await rowsOf(db, 'commissions');
  expect(touched.map((row) => row['_changed_at'])).toEqual(changed.map((row) => row['_changed_at']));
  expect(touched.map((row) => row['_observed_at'])).toContain('2026-07-01T00:00:09Z');
});

test('the index on stamps answers which rows of a large table changed', async () => {
  await sql`insert into referrals (id, _first_seen_at, _changed_at, _observed_at)
    select n::text, now(), now(), now() from generate_series(1, 20000) n`.execute(db);
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [buildReferral()] }] });
  await sql`analyze referrals`.execute(db);
  const { rows } = await sql<Record<string, string>>`
    explain select * from referrals where _changed_at > (select last - interval '1 microsecond' from change_clock)`.execute(
    db,
  );
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('referrals_changed_at');
});
