// On which day the reports count a lead and a conversion, of referrals that go back and forth.

import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
});

/** A sync on that day of July that sees the referral so. */
const see = (day: number, record: object) =>
  load(db, { resource: 'referrals', pages: [{ observedAt: at((day - 1) * 86_400), records: [record] }] });

async function readFunnel(): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query(
    `select extract(day from day)::int as day, leads, conversions from mirror_reports.referral_funnel_daily
     where day between '2026-07-01' and '2026-07-31' and (leads > 0 or conversions > 0) order by day`,
  );
  return rows;
}

test('a conversion that falls back to a lead is no new lead', async () => {
  const referral = buildReferral({ conversion_state: 'conversion' });
  await see(1, referral);
  await see(2, { ...referral, conversion_state: 'lead' });
  expect(await readFunnel()).toEqual([]);
});

test('a visitor who converts between two syncs became a lead, too, once', async () => {
  const referral = buildReferral({ conversion_state: 'visitor' });
  await see(1, referral);
  await see(2, { ...referral, conversion_state: 'conversion' });
  await see(3, { ...referral, conversion_state: 'visitor' });
  await see(4, { ...referral, conversion_state: 'lead' });
  expect(await readFunnel()).toEqual([{ day: 2, leads: 1, conversions: 1 }]);
});
