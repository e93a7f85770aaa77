// Nothing that reads the tables answers differently once they are pruned; and what promised-rows.test.ts cannot show.

import { expect, test } from 'vitest';
import { AccessRefused } from '../../../src/base/errors.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { pruneTables } from '../../../src/mirror/retention/prune.ts';
import {
  addChange,
  addFinding,
  addRun,
  FOR_EVER,
  idsOf,
  makeAgedMirror,
  ONE_DAY,
  pruneNow,
} from './aged-mirror.ts';

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
  await change(55, { became_lead_at: null }, { became_lead_at: '2026-01-01T00:00:00Z' });
  await change(50, { became_conversion_at: stated }, { became_conversion_at: '2026-01-01T00:00:00Z' });
  await change(3, { visits: 1 }, { visits: 2 });
  await change(2, { visits: 2 }, { visits: 3 });
  const ask = async () =>
    (await pool.query('select converted_at, is_exact from conversion_events order by converted_at')).rows;
  const before = await ask();
  expect(before[0]).toEqual({ converted_at: stated, is_exact: true });
  await pruneNow(mirror, { ...FOR_EVER, history: 1 });
  expect(await idsOf(pool, 'record_history')).toHaveLength(5);
  expect(await ask()).toEqual(before);
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
  for (const days of [20, 11]) await addChange(mirror.pool, days, { record: 'r1' });
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

test('rejected records outside a run go by their age alone, and the counters of a run that is running stay', async () => {
  const mirror = await makeAgedMirror();
  await addFinding(mirror, null, 20);
  const run = await addRun(mirror.pool, 10, { state: 'running' });
  await addRun(mirror.pool, 9, { resource: 'affiliates', mode: 'full' });
  await mirror.pool.query(`insert into covered_counters values ('a1', $1, 0, 0, 0)`, [run]);
  await pruneNow(mirror, ONE_DAY);
  expect(await idsOf(mirror.pool, 'rejected_records')).toEqual([]);
  expect(await idsOf(mirror.pool, 'covered_counters', 'run_id')).toEqual([run]);
  expect(await idsOf(mirror.pool, 'sync_runs')).toContain(run);
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
