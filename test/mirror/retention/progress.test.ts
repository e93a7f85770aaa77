// How far the pruning of a table came, as its row in pruned_tables says, and when it is looked at again.

import { expect, test } from 'vitest';
import { type AgedMirror, addChange, FOR_EVER, idsOf, makeAgedMirror, pruneNow } from './aged-mirror.ts';

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
  if (progress === undefined) throw new Error(`no worker has looked at ${table}`);
  return progress;
}

/** Three changes of each record, of which the last one stays. */
async function addChanges({ pool }: AgedMirror, days: number, record: string): Promise<void> {
  for (let count = 0; count < 3; count += 1) await addChange(pool, days, { record });
}

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
