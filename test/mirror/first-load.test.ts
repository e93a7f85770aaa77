// The first load of a list inserts without comparing, until one of its records is there already: what it leaves is
// always what comparing leaves (load-properties.test.ts has that for any pages).

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { beginFirstLoad, type FirstLoad } from '../../src/mirror/send-rows.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { watchInsertions } from '../support/watch-insertions.ts';
import { buildReferral } from './build-records.ts';
import { at, counts, load, rowsOf } from './load.ts';

let database: TestDatabase;
let db: Database;
let runId: number;
let firstLoad: FirstLoad;

beforeEach(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  ({ id: runId } = await startRun(db, { resource: 'referrals', mode: 'full' }));
  firstLoad = await beginFirstLoad(db, 'referrals');
});

afterEach(() => {
  vi.restoreAllMocks();
});

const build = (size: number, fields: object = {}) =>
  Array.from({ length: size }, () => buildReferral(fields));
type Referral = ReturnType<typeof buildReferral>;

function pagesOf(second: number, ...pages: readonly (readonly Referral[])[]) {
  return pages.map((records) => ({ observedAt: at(second), records }));
}

function loadPages(second: number, ...pages: readonly (readonly Referral[])[]) {
  return load(db, { resource: 'referrals', runId, firstLoad, pages: pagesOf(second, ...pages) });
}

const none = { seen: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, repeated: 0 };

test('new rows are inserted in one statement, numbered in their order, all of them in the history', async () => {
  const insertions = watchInsertions();
  const [first, second] = [build(3), build(2, { unheard_of: 1 })];
  expect(counts(await loadPages(1, first, second))).toEqual({ ...none, seen: 5, inserted: 5 });
  // Rows with unknown fields go into the same statement.
  expect(insertions()).toEqual({ sent: 1, refused: 0 });
  const ids = [...first, ...second].map(({ id }) => id);
  const rows = await rowsOf(db, 'referrals');
  expect(
    rows.toSorted((a, b) => Number(a['_row_number']) - Number(b['_row_number'])).map(({ id }) => id),
  ).toEqual(ids);
  const { rows: history } = await sql`
    select stored.id, run_id
    from record_history cross join unnest(record_ids) stored (id)
    join referrals on referrals.id = stored.id
    where table_name = 'referrals' and _changed_at = recorded_at order by stored.id`.execute(db);
  expect(history).toEqual(ids.toSorted().map((id) => ({ id, run_id: runId })));
  const { rows: seen } = await sql`select row_numbers from seen_rows`.execute(db);
  expect(seen).toEqual([{ row_numbers: [1, 2, 3, 4, 5] }]);
});

test('a row that somebody inserts by hand at the same time is waited for, and compared', async () => {
  const [byHand] = build(1) as [Referral];
  const hand = await database.pool.connect();
  let loading: ReturnType<typeof loadPages>;
  try {
    await hand.query('begin');
    await hand.query(
      'insert into referrals (id, visits, _first_seen_at, _changed_at, _observed_at) values ($1, 1, $2, $2, $2)',
      [byHand.id, at(1)],
    );
    loading = loadPages(3, build(2), [byHand]);
    await expect.poll(() => countWaiting(database.pool)).toBe(1);
    await hand.query('commit');
  } finally {
    hand.release(true);
  }
  expect(counts(await loading)).toEqual({ ...none, seen: 3, inserted: 2, updated: 1 });
  expect(firstLoad.isOn()).toBe(false);
});
