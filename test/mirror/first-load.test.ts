// The first load of a list inserts without comparing, until one of its records is there already: what it leaves is
// always what comparing leaves (load-properties.test.ts has that for any pages).

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { beginFirstLoad, type FirstLoad, makeFirstLoad } from '../../src/mirror/first-load.ts';
import { loadBatch } from '../../src/mirror/load-batch.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { makeSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { readPages } from '../../src/records/read-page.ts';
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
  db = makeDatabase(database.pool);
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

test('a record on two pages of a batch is compared the second time, and the next batch inserts as before', async () => {
  const insertions = watchInsertions();
  const [[twice, ...first], [second], third] = [build(3), build(1), build(2)] as [
    Referral[],
    Referral[],
    Referral[],
  ];
  const batch = [
    [twice, ...first],
    [twice, second],
  ] as Referral[][];
  expect(counts(await loadPages(1, ...batch))).toEqual({ ...none, seen: 5, inserted: 4, repeated: 1 });
  await loadPages(2, third, build(1));
  expect(insertions()).toEqual({ sent: 2, refused: 0 });
});

test('after the first record that is there already, the batch and all that follow are compared', async () => {
  const insertions = watchInsertions();
  const [known, ...others] = build(4);
  await loadPages(1, [known as Referral], others);
  const changed = { ...(known as Referral), visits: 9 };
  const counted = await loadPages(2, build(2), [changed, ...others.slice(1)]);
  expect(counts(counted)).toEqual({ ...none, seen: 5, inserted: 2, updated: 1, repeated: 2 });
  expect(firstLoad.isOn()).toBe(false);
  expect(counts(await loadPages(3, build(2), build(2)))).toEqual({ ...none, seen: 4, inserted: 4 });
  expect(insertions()).toEqual({ sent: 2, refused: 1 });
});

test('a single page is compared: the head is read twice, and the first load would end with an error for nothing', async () => {
  const insertions = watchInsertions();
  const records = build(3);
  await loadPages(1, records);
  await loadPages(2, records);
  expect(insertions()).toEqual({ sent: 0, refused: 0 });
  expect(firstLoad.isOn()).toBe(true);
});

test('a table with a row in it, even a deleted one, is compared from the beginning', async () => {
  const [gone] = build(1);
  await load(db, { resource: 'referrals', pages: pagesOf(1, [gone as Referral]) });
  const ids = [gone?.id ?? ''];
  await transact(db, (trx) =>
    markDeleted(trx, { runId: null, resource: 'referrals', ids, observedAt: at(2) }),
  );
  expect((await beginFirstLoad(db, 'referrals')).isOn()).toBe(false);
  expect((await beginFirstLoad(db, 'commissions')).isOn()).toBe(true);
});

test('a row that was stored and marked deleted since the run began is taken back', async () => {
  const [gone] = build(1) as [Referral];
  await load(db, { resource: 'referrals', pages: pagesOf(1, [gone]) });
  await transact(db, (trx) =>
    markDeleted(trx, { runId: null, resource: 'referrals', ids: [gone.id], observedAt: at(2) }),
  );
  expect(counts(await loadPages(3, build(2), [gone]))).toEqual({ ...none, seen: 3, inserted: 2, updated: 1 });
  const [row] = (await rowsOf(db, 'referrals')).filter(({ id }) => id === gone.id);
  expect(row).toMatchObject({ _deleted_at: null, _first_seen_at: '2026-07-01T00:00:01Z' });
});

test('what a single read stored meanwhile, and observed later, stays', async () => {
  const [read] = build(1) as [Referral];
  await load(db, { resource: 'referrals', pages: pagesOf(9, [{ ...read, visits: 7 }]), touch: true });
  expect(counts(await loadPages(3, build(2), [read]))).toEqual({
    ...none,
    seen: 3,
    inserted: 2,
    unchanged: 1,
  });
  const [row] = (await rowsOf(db, 'referrals')).filter(({ id }) => id === read.id);
  expect(row).toMatchObject({ visits: 7 });
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

test('another row that the database refuses fails the load in the same words, and leaves nothing', async () => {
  await sql`alter table referrals add constraint no_bots check (customer_name <> 'Bot')`.execute(db);
  await sql`create unique index one_account on referrals (processor_account_id)`.execute(db);
  const bot = build(1, {
    processor_account_id: 'acct_9',
    customer: { ...buildReferral().customer, name: 'Bot' },
  });
  const own = build(2);
  const refusal = (first: FirstLoad, pages: readonly (readonly Referral[])[]) =>
    load(db, { resource: 'referrals', runId, firstLoad: first, pages: pagesOf(1, ...pages) }).catch(
      ({ code, constraint, message }) => ({ code, constraint, message }),
    );
  const insertions = watchInsertions();
  const refusedByCheck = await refusal(firstLoad, [build(1), bot]);
  // Not even compared: that would only be refused again.
  expect(insertions()).toEqual({ sent: 1, refused: 1 });
  expect(refusedByCheck).toMatchObject({ code: '23514', constraint: 'no_bots' });
  expect(refusedByCheck).toEqual(await refusal(makeFirstLoad(false), [build(1), bot]));
  // Somebody's own index looks like a record that is there: comparing says which it is.
  const refusedByIndex = await refusal(firstLoad, [own.slice(0, 1), own.slice(1)]);
  expect(refusedByIndex).toMatchObject({ code: '23505', constraint: 'one_account' });
  expect(refusedByIndex).toEqual(await refusal(makeFirstLoad(false), [own.slice(0, 1), own.slice(1)]));
  expect(await rowsOf(db, 'referrals')).toEqual([]);
});

test('a transaction that is done again decides anew, and stores and counts everything once', async () => {
  const [known, ...others] = build(3) as [Referral, ...Referral[]];
  await loadPages(1, [known], others);
  const read = pagesOf(2, build(2), [known]).map((page) =>
    readPages({ cache: null, drift: null }, 'referrals', [page]),
  );
  const run = { id: runId, seen: makeSeenRows(), firstLoad };
  let tries = 0;
  const result = await transact(db, async (trx) => {
    const loaded = await loadBatch(trx, { run, resource: 'referrals', pages: read });
    tries += 1;
    if (tries === 1) await sql`do $$ begin raise sqlstate '40P01'; end $$`.execute(trx);
    return loaded;
  });
  expect(tries).toBe(2);
  expect(counts(result)).toEqual({ ...none, seen: 3, inserted: 2, unchanged: 1 });
  expect(await rowsOf(db, 'referrals')).toHaveLength(5);
});
