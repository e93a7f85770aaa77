// What is over age and stays, since the status or the schedules still speak of it; and what goes though it seems to.

import { expect, test } from 'vitest';
import {
  type AgedMirror,
  addChange,
  addFinding,
  addRun,
  FOR_EVER,
  idsOf,
  makeAgedMirror,
  ONE_DAY,
  pruneNow,
} from './aged-mirror.ts';

const runsOf = async ({ pool }: AgedMirror) => [
  await idsOf(pool, 'rejected_records', 'run_id'),
  await idsOf(pool, 'schema_drift', 'run_id'),
];

test('what was found since the last run that read everything stays, however many read a part of it later', async () => {
  const mirror = await makeAgedMirror();
  const runs: number[] = [];
  for (const [days, mode, state] of [
    [20, 'full', 'succeeded'],
    [15, 'delta', 'succeeded'],
    [12, 'full', 'succeeded'],
    [8, 'delta', 'succeeded'],
    [5, 'full', 'partial'],
  ] as const) {
    const run = await addRun(mirror.pool, days, { mode, state });
    await addFinding(mirror, run, days);
    runs.push(run);
  }
  await pruneNow(mirror, { ...FOR_EVER, rejected: 1, drift: 1 });
  const since = runs.slice(2);
  expect(await runsOf(mirror)).toEqual([since, since]);
});

test('what was found of a resource that was never read whole stays', async () => {
  const mirror = await makeAgedMirror();
  const run = await addRun(mirror.pool, 20, { mode: 'full', state: 'failed' });
  await addFinding(mirror, run, 20);
  await addRun(mirror.pool, 10, { resource: 'affiliates', mode: 'full' });
  await pruneNow(mirror, { ...FOR_EVER, rejected: 1, drift: 1 });
  expect(await runsOf(mirror)).toEqual([[run], [run]]);
});

test('what was refused outside a run goes by its age alone', async () => {
  const mirror = await makeAgedMirror();
  await addFinding(mirror, null, 20);
  await pruneNow(mirror, { ...FOR_EVER, rejected: 10 });
  expect(await idsOf(mirror.pool, 'rejected_records')).toEqual([]);
});

test('counters of a run that still runs stay, however old', async () => {
  const mirror = await makeAgedMirror();
  const run = await addRun(mirror.pool, 10, { state: 'running' });
  await mirror.pool.query(`insert into covered_counters values ('a1', $1, 0, 0, 0)`, [run]);
  await pruneNow(mirror, ONE_DAY);
  expect(await idsOf(mirror.pool, 'covered_counters', 'run_id')).toEqual([run]);
});

test('a change that is not over age stays, also where one after it seems older: a clock was put back', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  for (const days of [20, 5, 19, 18]) await addChange(pool, days, { record: 'r1' });
  await pruneNow(mirror, { ...FOR_EVER, history: 10 });
  expect(await idsOf(pool, 'record_history')).toEqual([1, 2, 3, 4]);
  await pool.query(`update record_history set recorded_at = recorded_at - interval '6 days'`);
  await pruneNow(mirror, { ...FOR_EVER, history: 10 });
  expect(await idsOf(pool, 'record_history')).toEqual([4]);
});

test('a change makes no change of another table needless, whatever the identifiers', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  await addChange(pool, 20, { record: 'same', table: 'affiliates' });
  await addChange(pool, 19, { record: 'same', table: 'links' });
  await addChange(pool, 18, { record: 'same' });
  await pruneNow(mirror, { ...FOR_EVER, history: 10 });
  expect(await idsOf(pool, 'record_history')).toHaveLength(3);
});

test.each(['became_lead_at', 'became_conversion_at'])('a change of %s stays', async (column) => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  await pool.query(
    `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
     select 'referrals', 'r1', 'updated', jsonb_build_object($1::text, null), jsonb_build_object($1::text, at), at, at
     from (select now() - interval '20 days' as at) aged`,
    [column],
  );
  await addChange(pool, 19, { record: 'r1' });
  await addChange(pool, 18, { record: 'r1' });
  await pruneNow(mirror, { ...FOR_EVER, history: 10 });
  expect(await idsOf(pool, 'record_history')).toEqual([1, 3]);
});

test('the runs of one resource make none of another needless', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  const runs = [await addRun(pool, 20, { mode: 'full' }), await addRun(pool, 15)];
  for (const days of [12, 10]) runs.push(await addRun(pool, days, { resource: 'affiliates', mode: 'full' }));
  await pruneNow(mirror, ONE_DAY);
  expect(await idsOf(pool, 'sync_runs')).toEqual([runs[0], runs[1], runs[3]]);
});
