// What is pruned of each table, what stays, and that nothing that reads the tables answers differently afterwards.

import { expect, test } from 'vitest';
import type { Retention } from '../../src/config/retention.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { AccessRefused } from '../../src/errors.ts';
import { makeLogger } from '../../src/log.ts';
import { listSyncedSince, wasEverRead } from '../../src/mirror/runs/whole-runs.ts';
import { readStatus } from '../../src/reports/read-status.ts';
import { pruneTables } from '../../src/retention/prune.ts';
import {
  type AgedMirror,
  type AgedRun,
  addChange,
  addFinding,
  addRun,
  FOR_EVER,
  idsOf,
  makeAgedMirror,
  ONE_DAY,
  pruneNow,
} from './aged-mirror.ts';

const COMMISSION = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

/** A row of each table, of so many days ago, that nothing needs; the last run that read everything is later. */
async function addNeedless(mirror: AgedMirror, days: number): Promise<void> {
  const { pool } = mirror;
  const run = await addRun(pool, days);
  await addChange(pool, days, { record: 'r1' });
  await addFinding(mirror, run, days);
  await pool.query(
    `with request as (
       insert into commission_updates (commission_id, action) values ($1, 'unpay') returning id
     )
     insert into commission_update_attempts (update_id, method, sent_at)
     select id, method, now() - make_interval(days => $2) from request, unnest(array['GET', 'PUT']) as method`,
    [COMMISSION, days],
  );
  await pool.query(
    `update commission_updates set state = 'unchanged', outcome = 'so', finished_at = now() - make_interval(days => $1)
     where state = 'pending'`,
    [days],
  );
}

const TABLES = {
  history: 'record_history',
  runs: 'sync_runs',
  rejected: 'rejected_records',
  attempts: 'commission_update_attempts',
  drift: 'schema_drift',
} as const satisfies Record<keyof Retention, string>;

const countAll = async ({ pool }: AgedMirror) => {
  const counts: Record<string, number> = {};
  for (const [name, table] of Object.entries(TABLES)) counts[name] = (await idsOf(pool, table, '1')).length;
  return counts;
};

test.each([
  ['history', 2],
  ['rejected', 1],
  ['attempts', 3],
  ['drift', 1],
] as const)('the setting %s prunes what is older, and nothing else', async (setting, left) => {
  const mirror = await makeAgedMirror();
  await addNeedless(mirror, 20);
  // The last change of each record stays, so a newer one of it makes the first needless.
  await addChange(mirror.pool, 11, { record: 'r1' });
  await addNeedless(mirror, 5);
  await addRun(mirror.pool, 3, { mode: 'full' });
  const before = await countAll(mirror);
  expect(await pruneNow(mirror, FOR_EVER)).toBe('done');
  expect(await countAll(mirror)).toEqual(before);
  expect(await pruneNow(mirror, { ...FOR_EVER, [setting]: 10 })).toBe('done');
  expect(await countAll(mirror)).toEqual({ ...before, [setting]: left });
  await pruneNow(mirror, { ...FOR_EVER, [setting]: 10 });
  expect(await countAll(mirror)).toEqual({ ...before, [setting]: left });
});

test('a run is kept for as long as a row names it, and goes with the last of them', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  const runs: number[] = [];
  for (let days = 20; days > 12; days -= 1) runs.push(await addRun(pool, days));
  const whole = await addRun(pool, 10, { mode: 'full' });
  const last = await addRun(pool, 5);
  const [free = 0, changed = 0, rejected = 0, drifted = 0, held = 0, covered = 0, seen = 0] = runs;
  await addChange(pool, 19, { record: 'r1', run: changed });
  await pool.query(
    `insert into rejected_records (run_id, resource, record_id, reason, payload, observed_at)
     values ($1, 'referrals', 'bad', 'no', '{}', now() - interval '18 days')`,
    [rejected],
  );
  await pool.query(
    `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, 'referrals', 'f', 'appeared', 1)`,
    [drifted],
  );
  await pool.query(
    `insert into held_back_deletions (resource, record_id, run_id) values ('referrals', 'r1', $1)`,
    [held],
  );
  await pool.query(`insert into covered_counters values ('a1', $1, 0, 0, 0)`, [covered]);
  await pool.query(`insert into seen_rows values ($1, '{}', '{}', '[]')`, [seen]);
  const kept = [changed, rejected, drifted, held, covered, seen, whole, last];
  await pruneNow(mirror, { ...FOR_EVER, runs: 1 });
  expect(await idsOf(pool, 'sync_runs')).toEqual(kept);
  expect(kept).not.toContain(free);
  await pool.query(
    'truncate record_history, rejected_records, schema_drift, held_back_deletions, covered_counters',
  );
  await pool.query('truncate seen_rows');
  // What was kept is looked at again after a week.
  await pool.query(`update pruned_tables set begun_at = begun_at - interval '8 days'`);
  await pruneNow(mirror, { ...FOR_EVER, runs: 1 });
  expect(await idsOf(pool, 'sync_runs')).toEqual([whole, last]);
});

const WHOLE: AgedRun = { mode: 'full' };
const FAILED: AgedRun = { mode: 'full', state: 'failed', error_code: 'API_UNREACHABLE' };

test.each<[string, readonly (readonly [number, AgedRun])[], readonly number[]]>([
  [
    'the last whole run, ten days old, and all since',
    [
      [12, WHOLE],
      [11, {}],
      [10, WHOLE],
      [9, {}],
      [8, FAILED],
    ],
    [2, 3, 4],
  ],
  [
    'the last one alone, where no run read everything',
    [
      [12, FAILED],
      [11, FAILED],
      [10, { state: 'skipped' }],
    ],
    [1],
  ],
  [
    'the last whole run that ended unverified',
    [
      [12, {}],
      [11, { mode: 'full', state: 'partial' }],
      [10, {}],
    ],
    [0, 1, 2],
  ],
  [
    'the last full run, where a delta reads everything, too',
    [
      [12, { resource: 'affiliates', mode: 'full' }],
      [11, { resource: 'affiliates' }],
      [10, { resource: 'affiliates' }],
    ],
    [0, 2],
  ],
  [
    'the last refusal of the program',
    [
      [12, { state: 'failed', error_code: 'API_REJECTED' }],
      [11, WHOLE],
    ],
    [0, 1],
  ],
  [
    'a run that is running',
    [
      [12, { state: 'running' }],
      [11, WHOLE],
      [10, WHOLE],
    ],
    [0, 2],
  ],
  [
    'a run of yesterday',
    [
      [3, {}],
      [2, {}],
      [0.5, {}],
      [0.4, WHOLE],
    ],
    [2, 3],
  ],
])('with a day for everything stays: %s', async (_, runs, left) => {
  const mirror = await makeAgedMirror();
  const ids: number[] = [];
  for (const [days, run] of runs) ids.push(await addRun(mirror.pool, days, run));
  await pruneNow(mirror, ONE_DAY);
  expect(await idsOf(mirror.pool, 'sync_runs')).toEqual(left.map((index) => ids[index]));
});

test('freshness, status and the schedules answer the same before and after', async () => {
  const mirror = await makeAgedMirror();
  const { pool, db } = mirror;
  for (const resource of ['affiliates', 'referrals', 'commissions']) {
    for (let days = 60; days > 20; days -= 1) {
      const run = await addRun(pool, days, {
        resource,
        mode: days % 7 === 0 ? 'full' : 'delta',
        state: days % 5 === 0 ? 'partial' : days % 11 === 0 ? 'failed' : 'succeeded',
        verified: days % 5 !== 0 && days % 11 !== 0,
        rows_rejected: days % 3,
      });
      await pool.query(
        `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, $2, 'f' || $3, 'appeared', 1)`,
        [run, resource, days],
      );
      if (days % 3 > 0) {
        await pool.query(
          `insert into rejected_records (run_id, resource, record_id, reason, payload, observed_at)
           values ($1, $2, 'bad', 'no', '{}', now() - make_interval(days => $3))`,
          [run, resource, days],
        );
      }
    }
  }
  const ask = async () => {
    const { last_runs, ...status } = await readStatus({ db, mirrorSchema: 'mirror' });
    const { rows: freshness } = await pool.query('select * from mirror_reports.freshness');
    const { rows: rejected } = await pool.query(
      `select id from rejected_records rejected where run_id >= (
         select max(id) from sync_runs where resource = rejected.resource and verified and mode = 'full')`,
    );
    const known = await Promise.all(['affiliates', 'referrals'].map((one) => wasEverRead(db, one)));
    const since = Date.now() - 50 * 86_400_000;
    const synced = await Promise.all(
      (['full', 'delta'] as const).map((mode) => listSyncedSince(db, mode, since)),
    );
    const sorted = synced.map((some) => some.toSorted());
    const answer = { status, freshness, rejected, known, sorted, last: last_runs[0] };
    return JSON.parse(JSON.stringify(answer, (key, value) => (/age/.test(key) ? undefined : value)));
  };
  await pool.query(`update optional_lists set setting = 'on'`);
  const before = await ask();
  const runs = await idsOf(pool, 'sync_runs');
  await pruneNow(mirror, ONE_DAY);
  await pruneNow(mirror, ONE_DAY);
  expect((await idsOf(pool, 'sync_runs')).length).toBeLessThan(runs.length / 2);
  expect(await ask()).toEqual(before);
});

test('the reports count the same, and the mirror as of a later time is exact to the column', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  await pool.query(`
    set session_replication_role = replica;
    insert into referrals (id, created_at, conversion_state, visits, _first_seen_at, _changed_at, _observed_at)
    select 'r' || n, now() - interval '90 days', 'conversion', 9, now() - interval '90 days', now(), now()
    from generate_series(1, 20) n;
    set session_replication_role = origin`);
  for (let days = 80; days > 0; days -= 2) {
    const state = days > 70 ? null : days > 60 ? 'lead' : 'conversion';
    for (let number = 1; number <= 20; number += 1) {
      const isTurn = (days / 2) % 4 === number % 4;
      if (!isTurn) continue;
      const after = days % 3 === 0 && state !== null ? { conversion_state: state } : { visits: days };
      await addChange(pool, days, { record: `r${number}`, after: days === 80 ? null : after });
    }
  }
  const ask = async () => {
    const { rows: funnel } = await pool.query(
      'select * from mirror_reports.referral_funnel_daily order by day',
    );
    const { rows: events } = await pool.query(
      'select * from conversion_events order by referral_id, observed_at',
    );
    const { rows: then } = await pool.query(
      `select days, known.* from (values (29), (20), (10), (1)) asked (days),
       lateral referrals_at(date_trunc('day', now()) - make_interval(days => days)) known order by days, id`,
    );
    return { funnel, events, then };
  };
  const before = await ask();
  const rows = (await idsOf(pool, 'record_history')).length;
  await pruneNow(mirror, { ...FOR_EVER, history: 30 }, 7);
  expect((await idsOf(pool, 'record_history')).length).toBeLessThan(rows * 0.75);
  expect(await ask()).toEqual(before);
  const reached = `(select pruned_before from pruned_tables where table_name = 'record_history')`;
  expect((await pool.query(`select from referrals_at(${reached})`)).rowCount).toBeGreaterThan(0);
  await expect(pool.query(`select * from referrals_at(now() - interval '31 days')`)).rejects.toThrow(
    /not known any more: the history from before .* was pruned/,
  );
});

test('what a program stated of a conversion from before the mirror is counted as before', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  const stated = '2025-01-05T00:00:00Z';
  await pool.query(`
    set session_replication_role = replica;
    insert into referrals (id, created_at, conversion_state, became_conversion_at, _first_seen_at, _changed_at, _observed_at)
    values ('r1', now() - interval '90 days', 'conversion', now() - interval '55 days', now() - interval '90 days', now(), now());
    set session_replication_role = origin`);
  const change = (days: number, before: object, after: object) =>
    pool.query(
      `insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at)
       select 'referrals', 'r1', 'updated', $2, $3, at, at from (select now() - make_interval(days => $1) as at) aged`,
      [days, before, after],
    );
  await change(70, { conversion_state: 'conversion' }, { conversion_state: 'lead' });
  await change(60, { conversion_state: 'lead' }, { conversion_state: 'conversion' });
  await change(50, { became_conversion_at: stated }, { became_conversion_at: '2026-01-01T00:00:00Z' });
  await change(3, { visits: 1 }, { visits: 2 });
  await change(2, { visits: 2 }, { visits: 3 });
  const ask = async () =>
    (await pool.query('select converted_at, is_exact from conversion_events order by converted_at')).rows;
  const before = await ask();
  expect(before[0]).toEqual({ converted_at: stated, is_exact: true });
  await pruneNow(mirror, { ...FOR_EVER, history: 1 });
  expect(await idsOf(pool, 'record_history')).toHaveLength(4);
  expect(await ask()).toEqual(before);
});

test('attempts of a request that is pending or ended lately stay, and so does all that was written', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  await addNeedless(mirror, 20);
  await addNeedless(mirror, 19);
  const [ended, other] = await idsOf(pool, 'commission_updates');
  await pool.query(
    `update commission_updates set state = 'pending', outcome = null, finished_at = null where id = $1`,
    [ended],
  );
  const puts = () => pool.query('select request, puts, state from commission_ledger order by request');
  const ledger = (await puts()).rows;
  await pruneNow(mirror, ONE_DAY);
  const { rows } = await pool.query(
    'select update_id, method from commission_update_attempts order by update_id, method',
  );
  expect(rows).toEqual([
    { update_id: ended, method: 'GET' },
    { update_id: ended, method: 'PUT' },
    { update_id: other, method: 'PUT' },
  ]);
  expect((await puts()).rows).toEqual(ledger);
});

test('counters of runs that ended unverified are bounded', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  for (let days = 10; days > 0; days -= 1) {
    const run = await addRun(pool, days - 0.5, {
      state: days === 5 ? 'succeeded' : 'failed',
      verified: days === 5,
    });
    await pool.query(`insert into covered_counters values ('a1', $1, 0, 0, 0)`, [run]);
  }
  const runs = await idsOf(pool, 'sync_runs');
  await pruneNow(mirror, FOR_EVER);
  expect(await idsOf(pool, 'covered_counters', 'run_id')).toEqual([runs[5], runs[9]]);
  expect(await idsOf(pool, 'sync_runs')).toEqual(runs);
});

test('what takes several batches goes in one look', async () => {
  const mirror = await makeAgedMirror();
  for (const days of [20, 19, 18]) await addNeedless(mirror, days);
  await addRun(mirror.pool, 3, { mode: 'full' });
  expect(await pruneNow(mirror, ONE_DAY, 1)).toBe('done');
  // The last change, the last runs, and what was written.
  expect(await countAll(mirror)).toEqual({ history: 1, runs: 2, rejected: 0, attempts: 3, drift: 0 });
});

test('an alert goes long after it was resolved, and not while its message is under way', async () => {
  const mirror = await makeAgedMirror();
  const { pool } = mirror;
  await pool.query(`
    insert into alerts (code, what, fix, noticed_at, opened_at, well_at, resolved_at)
    select code, 'w', 'f', at, at, at, case when code <> 'open' then at end
    from (values ('sent', 500), ('pending', 500), ('late', 399), ('open', 500)) as alert (code, days),
      lateral (select now() - make_interval(days => days) as at) as aged`);
  await pool.query(`
    insert into alert_notices (alert_id, kind, channel, state, settled_at)
    select id, 'opened', 'webhook', state, case when state = 'sent' then now() end
    from alerts, lateral (select case when code = 'pending' then code else 'sent' end as state) as said`);
  await pruneNow(mirror, FOR_EVER);
  expect(await idsOf(pool, 'alerts', 'code')).toEqual(['late', 'open', 'pending']);
  await pool.query(`update alert_notices set state = 'sent', settled_at = now()`);
  await pruneNow(mirror, FOR_EVER);
  expect(await idsOf(pool, 'alerts', 'code')).toEqual(['late', 'open']);
});

test('a role that may not delete: one line that says how to grant it', async () => {
  const mirror = await makeAgedMirror();
  await addNeedless(mirror, 20);
  await addChange(mirror.pool, 11, { record: 'r1' });
  const role = `no_delete_${process.pid}`;
  await mirror.pool.query(`
    create role ${role} login password 'p';
    grant usage on schema mirror to ${role};
    grant select, insert, update on all tables in schema mirror to ${role}`);
  const url = new URL(mirror.url);
  url.username = role;
  url.password = 'p';
  const log = makeLogger('silent');
  const pool = makePool({ log }, { url: url.href, schema: 'mirror', max: 2, applicationName: 'test' });
  const { signal } = new AbortController();
  const input = { retention: ONE_DAY, signal };
  const error = await pruneTables({ db: makeDatabase(pool), log }, input).catch((thrown: unknown) => thrown);
  await pool.end();
  await mirror.pool.query(`drop owned by ${role}; drop role ${role}`);
  expect(error).toBeInstanceOf(AccessRefused);
  expect(String(error)).toContain('"affiliate-mirror grants worker|');
});
