// What moves the stamp of a row (_changed_at), and what does not.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { transact } from '../../src/db/transact.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildCommission, buildReferral } from './build-records.ts';
import { byTime, lastStamp } from './change-stamps.ts';
import { at, load, rowsOf } from './load.ts';

const database = await createTestDatabase();
const { db } = database;

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
    // Unless it says itself when that was.
    await sql`update referrals set visits = 7, _observed_at = ${at(4)}`.execute(db);
    expect((await observations()).at(-1)).toBe('2026-07-01T00:00:04Z');
  });
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
