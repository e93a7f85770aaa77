// The growth of a mirror whose rows each test fills: sizes, rates, and when the disk would be full.

import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { type DiskSpace, readGrowth } from '../../src/reports/read-growth.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase();
  ({ db } = database);
});

/** The first load ended so long ago. */
async function loadFirst(days: number): Promise<void> {
  await database.pool.query(
    `insert into sync_runs (resource, mode, state, verified, started_at, heartbeat_at, finished_at)
     select 'referrals', 'full', 'succeeded', true, at, at, at from (select now() - make_interval(days => $1) as at) then_`,
    [days],
  );
}

/** So many changes a day, each at noon before now, for so many days. */
async function fillHistory(perDay: number, days: number): Promise<void> {
  await database.pool.query(
    `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
     select 'referrals', 'r' || number, 'updated', '{"visits": 1}', '{"visits": 2}', at, at
     from generate_series($2 - 1, 0, -1) as day
     cross join lateral (select now() - make_interval(days => day, hours => 12) as at) then_
     cross join generate_series(1, $1) as number`,
    [perDay, days],
  );
}

const growthOf = async (space: DiskSpace | null = null) =>
  (await readGrowth({ db, mirrorSchema: 'mirror', readSpace: async () => space })).growth;
const historyOf = async () =>
  (await growthOf()).tables.find(({ table_name }) => table_name === 'record_history');

test('a mirror that was never synced grows at no known rate', async () => {
  const growth = await growthOf({ source: 'limit', limitBytes: 1e12 });
  expect(growth).toMatchObject({ bytes_per_year: null, measured_since: null });
  expect(growth.disk).toMatchObject({ source: 'limit', full_at: null, full_in_days: null });
  expect(growth.bytes).toBeGreaterThan(0);
  expect(growth.tables.map(({ rows }) => rows).every((rows) => rows === 0)).toBe(true);
});

test('what is added in 30 days gives rows a day and bytes a year', async () => {
  await loadFirst(100);
  await fillHistory(100, 60);
  const { rows = 0, bytes = 0, rows_per_day, bytes_per_year } = (await historyOf()) ?? {};
  expect(rows).toBe(6000);
  expect(rows_per_day).toBeCloseTo(100, 5);
  expect(bytes_per_year).toBeCloseTo((100 * 365 * bytes) / 6000, 0);
  expect(bytes).toBeGreaterThan(6000 * 50);
});

test('the first load is no growth, and less than a day after it no rate is known', async () => {
  await fillHistory(100, 60);
  await loadFirst(10);
  expect((await historyOf())?.rows_per_day).toBeCloseTo(100, 0);
  await database.pool.query(`update sync_runs set finished_at = now() - interval '1 hour'`);
  expect(await historyOf()).toMatchObject({ rows: 6000, rows_per_day: null, bytes_per_year: null });
});

test('a table that is pruned gains only what stays', async () => {
  await loadFirst(100);
  await fillHistory(100, 40);
  await database.pool.query(
    `delete from record_history where recorded_at < now() - interval '5 days' and record_id <> 'r1'`,
  );
  await database.pool.query(
    `insert into pruned_tables (table_name, keep_days, pruned_before) values ('record_history', 5, now() - interval '5 days')`,
  );
  const { rows = 0, bytes = 0, rows_per_day, bytes_per_year, keep_days } = (await historyOf()) ?? {};
  expect({ rows, keep_days }).toEqual({ rows: 535, keep_days: 5 });
  expect(rows_per_day).toBeCloseTo((500 + 25) / 30, 1);
  expect(bytes_per_year).toBeCloseTo((365 * bytes) / 535, -1);
});

test.each([
  [{ source: 'limit', limitBytes: 1e9 }, (bytes: number) => 1e9 - bytes],
  [{ source: 'file_system', freeBytes: 5e8 }, () => 5e8],
] as const)('with %j, the disk is full when what is left is used up', async (space, leftOf) => {
  await loadFirst(100);
  await fillHistory(3000, 30);
  const growth = await growthOf(space);
  const left = leftOf(growth.bytes);
  const days = left / ((growth.bytes_per_year ?? 0) / 365);
  expect(growth.disk.free_bytes).toBe(left);
  expect(growth.disk.full_in_days).toBeCloseTo(days, 5);
  expect(Date.parse(growth.disk.full_at ?? '')).toBeGreaterThan(Date.now() + (days - 1) * 86_400_000);
});

test('a limit that is exceeded is full now; one of centuries has no date', async () => {
  await loadFirst(100);
  await fillHistory(10, 30);
  const full = await growthOf({ source: 'limit', limitBytes: 1000 });
  expect(full.disk).toMatchObject({ full_in_days: 0 });
  expect(full.disk.free_bytes).toBeLessThan(0);
  const far = await growthOf({ source: 'limit', limitBytes: 1e15 });
  expect(far.disk).toMatchObject({ full_at: null, full_in_days: null });
});
