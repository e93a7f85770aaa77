// How far the pruning of a table came, as its row in pruned_tables says, and when it is looked at again.

import { expect, test } from 'vitest';
import { makeLogger } from '../../src/log.ts';
import { pruneTables } from '../../src/retention/prune.ts';
import {
  type AgedMirror,
  addChange,
  addRun,
  FOR_EVER,
  idsOf,
  makeAgedMirror,
  ONE_DAY,
  pruneNow,
} from './aged-mirror.ts';

interface Progress {
  readonly keep_days: number | null;
  readonly reached: number;
  readonly rows_deleted: number;
  readonly pruned_before: string | null;
  readonly begun_at: string | null;
  readonly looked_at: string | null;
}

async function progressOf({ pool }: AgedMirror, table: string): Promise<Progress> {
  const { rows } = await pool.query<Progress>('select * from pruned_tables where table_name = $1', [table]);
  const [progress] = rows;
  if (progress === undefined) throw new Error(`nobody has looked at ${table}`);
  return progress;
}

/** Three changes of each record, of which the last one stays. */
async function addChanges({ pool }: AgedMirror, days: number, record: string): Promise<void> {
  for (let count = 0; count < 3; count += 1) await addChange(pool, days, { record });
}

test('where nothing was deleted, nothing is said to be pruned', async () => {
  const mirror = await makeAgedMirror();
  await addChange(mirror.pool, 20, { record: 'r1' });
  await pruneNow(mirror, { ...FOR_EVER, history: 10 });
  expect(await progressOf(mirror, 'record_history')).toMatchObject({
    keep_days: 10,
    rows_deleted: 0,
    pruned_before: null,
  });
  await mirror.pool.query(`select * from referrals_at(now() - interval '30 days')`);
});

test('what was pruned is counted in all, and where more is kept later, it is gone all the same', async () => {
  const mirror = await makeAgedMirror();
  await addChanges(mirror, 40, 'r1');
  await addChanges(mirror, 30, 'r2');
  await pruneNow(mirror, { ...FOR_EVER, history: 35 });
  const first = await progressOf(mirror, 'record_history');
  expect(first).toMatchObject({ keep_days: 35, rows_deleted: 2 });
  await pruneNow(mirror, { ...FOR_EVER, history: 10 });
  const second = await progressOf(mirror, 'record_history');
  expect(second).toMatchObject({ keep_days: 10, rows_deleted: 4 });
  expect(Date.parse(second.pruned_before ?? '')).toBeGreaterThan(Date.parse(first.pruned_before ?? ''));
  await addChanges(mirror, 50, 'r3');
  await pruneNow(mirror, { ...FOR_EVER, history: 45 });
  expect(await progressOf(mirror, 'record_history')).toMatchObject({
    keep_days: 45,
    rows_deleted: 6,
    pruned_before: second.pruned_before,
  });
  await pruneNow(mirror, FOR_EVER);
  expect(await progressOf(mirror, 'record_history')).toMatchObject({ keep_days: null, rows_deleted: 6 });
});

test('a look goes on where the one before it came to; after a week it begins anew, and only then', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  const look = () => pruneNow(mirror, { ...FOR_EVER, history: 10 });
  const put = (days: number) =>
    pool.query(`update pruned_tables set begun_at = begun_at - make_interval(days => $1)`, [days]);
  await addChanges(mirror, 20, 'r1');
  await look();
  const first = await progressOf(mirror, 'record_history');
  expect(first.reached).toBe(3);
  // As if something had kept it then: a look that goes on does not see it any more.
  await pool.query(
    `insert into record_history (id, table_name, record_id, change, before, after, observed_at, recorded_at)
     overriding system value
     select 1, table_name, record_id, change, before, after, observed_at, recorded_at from record_history where id = 3`,
  );
  await look();
  expect(await idsOf(pool, 'record_history')).toEqual([1, 3]);
  expect((await progressOf(mirror, 'record_history')).begun_at).toEqual(first.begun_at);
  await put(6);
  await look();
  expect(await idsOf(pool, 'record_history')).toEqual([1, 3]);
  await put(2);
  const before = Date.now() - 60_000;
  await look();
  expect(await idsOf(pool, 'record_history')).toEqual([3]);
  const { begun_at } = await progressOf(mirror, 'record_history');
  expect(Date.parse(begun_at ?? '')).toBeGreaterThan(before);
});

test('where time is up at once, the setting is noted, and the table is not said to be looked through', async () => {
  const mirror = await makeAgedMirror();
  const { pool, db } = mirror;
  await addChanges(mirror, 20, 'r1');
  await pruneNow(mirror, { ...FOR_EVER, history: 35 });
  await pool.query('update pruned_tables set looked_at = null');
  const input = { retention: { ...FOR_EVER, history: 10 }, signal: new AbortController().signal };
  const deps = { db, log: makeLogger('silent') };
  expect(await pruneTables(deps, { ...input, longestMs: 0 })).toBe('left');
  expect(await progressOf(mirror, 'record_history')).toMatchObject({
    keep_days: 10,
    rows_deleted: 0,
    looked_at: null,
  });
  expect(await pruneTables(deps, input)).toBe('done');
  expect(await progressOf(mirror, 'record_history')).toMatchObject({ rows_deleted: 2 });
});

test('a table is looked at again after an hour', async () => {
  const mirror = await makeAgedMirror();
  const { pool, db } = mirror;
  const { signal } = new AbortController();
  const look = () => pruneTables({ db, log: makeLogger('silent') }, { retention: ONE_DAY, signal });
  const put = (minutes: number) =>
    pool.query('update pruned_tables set looked_at = now() - make_interval(mins => $1)', [minutes]);
  await look();
  await addRun(pool, 30, { mode: 'full' });
  await addRun(pool, 20, { mode: 'full' });
  await put(59);
  await look();
  expect(await idsOf(pool, 'sync_runs')).toHaveLength(2);
  await put(61);
  await look();
  expect(await idsOf(pool, 'sync_runs')).toHaveLength(1);
});
