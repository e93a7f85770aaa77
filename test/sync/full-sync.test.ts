// A full sync end to end, over HTTP and into Postgres: what it loads, counts, marks and resumes.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { openRun } from '../../src/mirror/runs/open-run.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { makeRefusal } from '../api/make-refusal.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { breakRecord } from './break-record.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 40, referrals: 600 });
const log = pino({ level: 'silent' });

beforeEach(async () => {
  const { database } = given();
  await database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sync_runs, seen_rows, rejected_records, schema_drift,
       record_history, covered_counters restart identity`,
  );
});

async function count(sql: string): Promise<number> {
  const { rows } = await given().database.pool.query(`select count(*) as count from ${sql}`);
  return rows[0].count;
}

/** Starts a full sync of a program with one record that cannot be stored, lets it crash, and returns how to go on. */
async function crashWithBrokenRecord() {
  const { sync, sandbox, api } = given();
  await sync('affiliates');
  const [broken] = await sandbox.allReferrals();
  const input = { resource: 'referrals', mode: 'full', acceptDeletes: false } as const;
  const run = () => runSync({ ...given(), api: breakRecord(api, broken?.id ?? ''), log }, input);
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', after: 4, times: 5 }] });
  await expect(run()).rejects.toThrow();
  sandbox.setFaults({ shares: {}, exact: [] });
  return run;
}

describe('a full sync', () => {
  test('makes the mirror equal to the program, verified, with counts that add up', async () => {
    const { syncBoth, sandbox, database } = given();
    const [affiliates, referrals] = await syncBoth();
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
    expect(affiliates).toMatchObject({
      state: 'succeeded',
      verified: true,
      total_upstream: 40,
      rows_seen: 80,
      rows_inserted: 40,
      rows_updated: 0,
      rows_unchanged: 0,
      rows_rejected: 0,
      rows_repeated: 40,
    });
    expect(referrals).toMatchObject({
      state: 'succeeded',
      verified: true,
      total_upstream: 600,
      distinct_seen: 600,
      requests: 7,
      pages: 7,
      rows_seen: 700,
      rows_inserted: 600,
      rows_repeated: 100,
    });
  });

  test('of an unchanged program writes no mirrored row', async () => {
    const { syncBoth, database } = given();
    await syncBoth();
    // A row version that any statement wrote, or even locked, has another transaction, place or locker.
    const versions = async () => {
      const tables = ['affiliates', 'campaigns', 'links', 'referrals', 'record_history'];
      const reads = tables.map((table) =>
        database.pool.query(`select id, xmin::text, xmax::text, ctid::text from ${table} order by id`),
      );
      return (await Promise.all(reads)).map(({ rows }) => rows);
    };
    const before = await versions();
    const [, referrals] = await syncBoth();
    expect(referrals).toMatchObject({
      distinct_seen: 600,
      rows_deleted: 0,
      deletes_held_back: 0,
      rows_inserted: 0,
      rows_updated: 0,
      rows_unchanged: 600,
      rows_repeated: 100,
    });
    expect(await versions()).toEqual(before);
  });

  test('takes over what changed, and keeps what was there before', async () => {
    const { syncBoth, sandbox, database } = given();
    await syncBoth();
    const [lead] = await sandbox.allReferrals('conversion_state=lead');
    await sandbox.program.updateReferral(lead?.id ?? '', { conversion_state: 'conversion' });
    await sandbox.program.insertReferral();
    const [, referrals] = await syncBoth();
    expect(referrals).toMatchObject({ rows_inserted: 1, rows_updated: 1 });
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
    const { rows } = await database.pool.query(
      `select change, before ->> 'conversion_state' as before, after ->> 'conversion_state' as after, run_id
       from record_history where table_name = 'referrals' and change <> 'inserted'`,
    );
    expect(rows).toEqual([{ change: 'updated', before: 'lead', after: 'conversion', run_id: referrals?.id }]);
  });

  test('marks a vanished referral deleted after looking for it, and takes it back when it returns', async () => {
    const { syncBoth, sync, sandbox, database } = given();
    await syncBoth();
    const [converted] = await sandbox.allReferrals('conversion_state=lead');
    const [visitor] = await sandbox.allReferrals('conversion_state=visitor');
    const before = await database.pool.query(`select * from referrals where id = any($1) order by id`, [
      [converted?.id, visitor?.id],
    ]);
    const { rows: kept } = await database.pool.query(`select * from sandbox.referrals where id = $1`, [
      converted?.id,
    ]);
    await sandbox.program.deleteReferral(converted?.id ?? '');
    await sandbox.program.deleteReferral(visitor?.id ?? '');
    expect(await sync('referrals')).toMatchObject({
      state: 'succeeded',
      rows_deleted: 2,
      deletes_held_back: 0,
    });
    const { rows } = await database.pool.query(
      `select * from referrals where _deleted_at is not null order by id`,
    );
    const content = (row: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_')));
    expect(rows.map(content)).toEqual(before.rows.map(content));
    expect(await count(`record_history where change = 'deleted'`)).toBe(2);

    await sandbox.program.insertReferral(kept[0]);
    expect(await sync('referrals')).toMatchObject({ rows_deleted: 0 });
    expect(await count(`referrals where _deleted_at is not null`)).toBe(1);
    expect(await count(`record_history where change = 'resurrected'`)).toBe(1);
  });

  test('marks the links of a vanished affiliate deleted with it, and a link that its affiliate no longer has', async () => {
    const { syncBoth, sync, sandbox, database } = given();
    await syncBoth();
    const { rows } = await database.pool.query(
      `select a.id as affiliate_id, array_agg(l.id order by l.id) as link_ids
       from affiliates a join links l on l.affiliate_id = a.id group by a.id having count(*) > 1 limit 2`,
    );
    await sandbox.program.deleteAffiliate(rows[0].affiliate_id);
    await database.pool.query('delete from sandbox.links where id = $1', [rows[1].link_ids[0]]);
    expect(await sync('affiliates')).toMatchObject({ state: 'succeeded', rows_deleted: 1 });
    const gone = await database.pool.query('select id from links where _deleted_at is not null order by id');
    expect(gone.rows.map(({ id }) => id)).toEqual([...rows[0].link_ids, rows[1].link_ids[0]].sort());
  });

  test('holds back more deletions than are plausible, unless --accept-deletes is given', async () => {
    const { syncBoth, sync, sandbox, database } = given();
    await syncBoth();
    const vanishing = (await sandbox.allReferrals()).slice(100, 120);
    for (const { id } of vanishing) await sandbox.program.deleteReferral(id);
    expect(await sync('referrals')).toMatchObject({
      state: 'partial',
      verified: true,
      rows_deleted: 0,
      deletes_held_back: 20,
    });
    expect(await count(`referrals where _deleted_at is not null`)).toBe(0);
    expect(await sync('referrals', { acceptDeletes: true })).toMatchObject({
      rows_deleted: 20,
      deletes_held_back: 0,
    });
    expect(await readMirror(database.pool)).toEqual(
      expect.objectContaining({ referrals: (await readProgram(sandbox)).referrals }),
    );
  });

  test('deletes nothing and says so where the program states more records than it serves', async () => {
    const { syncBoth, sync, sandbox, db, api } = given();
    await syncBoth();
    const [gone] = await sandbox.allReferrals('conversion_state=lead');
    await sandbox.program.deleteReferral(gone?.id ?? '');
    const lying: typeof api = {
      ...api,
      list: async (...args) => {
        const page = await api.list(...args);
        const pagination = { ...page.pagination, total_count: page.pagination.total_count + 1 };
        return { ...page, pagination };
      },
    };
    const summary = await runSync(
      { api: lying, db, log: pino({ level: 'silent' }) },
      { resource: 'referrals', mode: 'full', acceptDeletes: true },
    );
    expect(summary).toMatchObject({ state: 'partial', verified: false, rows_deleted: 0 });
    expect(await count(`referrals where _deleted_at is not null`)).toBe(0);
    await sync('referrals');
    expect(await count(`referrals where _deleted_at is not null`)).toBe(1);
  });

  test('loads the rest of a page that holds a record without a usable identifier, is not verified, and marks nothing deleted', async () => {
    const { syncBoth, sync, sandbox, database } = given();
    await sandbox.program.insertReferral({ id: 'no-uuid' });
    const [, referrals] = await syncBoth();
    expect(referrals).toMatchObject({
      state: 'partial',
      verified: false,
      reason:
        'unverified because the list has a record without a usable identifier, which may be any of its records',
      rows_rejected: 1,
    });
    const { rows } = await database.pool.query('select record_id, reason, payload from rejected_records');
    expect(rows).toMatchObject([{ record_id: null, payload: { id: 'no-uuid' } }]);
    expect(await count('referrals')).toBe((referrals?.total_upstream ?? 0) - 1);

    // While it is in the list, it is not known which row is missing.
    const [other] = await sandbox.allReferrals('conversion_state=lead');
    await sandbox.program.deleteReferral(other?.id ?? '');
    expect(await sync('referrals', { acceptDeletes: true })).toMatchObject({
      verified: false,
      rows_deleted: 0,
    });
    await sandbox.program.deleteReferral('no-uuid');
    expect(await sync('referrals')).toMatchObject({ verified: true, rows_deleted: 1 });
  });
});

describe('one run of a resource at a time', () => {
  test('a second run ends as skipped, says who holds it, and is in the run log', async () => {
    const { sync, sandbox } = given();
    sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', times: 1 }] });
    const controller = new AbortController();
    const first = sync('affiliates', { signal: controller.signal });
    await expect.poll(() => count(`sync_runs where state = 'running'`)).toBe(1);
    const second = await sync('affiliates');
    expect(second).toMatchObject({ state: 'skipped', requests: 0 });
    expect(second.reason).toMatch(/another sync of affiliates is running: test \(pid \d+, role /);
    const { rows } = await given().database.pool.query(
      `select error, error_code, requests from sync_runs where state = 'skipped'`,
    );
    expect(rows).toEqual([{ error: second.reason, error_code: null, requests: 0 }]);
    controller.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    expect(await count(`sync_runs where state = 'interrupted'`)).toBe(1);
    sandbox.setFaults({ shares: {}, exact: [] });
  });
});

describe('a run that stopped short', () => {
  test('goes on from its checkpoint: the head and one page are read twice, and the run log shows one run', async () => {
    const { sync, sandbox, database } = given();
    await sync('affiliates');
    sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', after: 4, times: 5 }] });
    const already = sandbox.requests.length;
    await expect(sync('referrals')).rejects.toThrow(/50\d/);
    expect(sandbox.requests.length - already).toBe(4 + 5);
    expect(await count(`sync_runs where state = 'failed' and error_code = 'API_UNAVAILABLE'`)).toBe(1);
    sandbox.setFaults({ shares: {}, exact: [] });
    const before = sandbox.requests.length;
    const summary = await sync('referrals');
    const inProgram = (await sandbox.referrals('?limit=1')).pagination.total_count;
    expect(summary).toMatchObject({
      state: 'succeeded',
      verified: true,
      requests: 9 + 4,
      rows_inserted: inProgram,
      rows_unchanged: 0,
    });
    // Pages 5 and 6, the one before them again, and the head; and the test's own request for the total.
    expect(sandbox.requests.length - before).toBe(4 + 1);
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
  });

  test('can commit nothing more once another process has taken it over', async () => {
    const { db, database, sync, sandbox } = given();
    await sync('affiliates');
    sandbox.setFaults({ shares: {}, exact: [{ kind: 'stall', after: 2, times: 1 }] });
    const stalled = sync('referrals');
    await expect.poll(() => count(`sync_runs where resource = 'referrals' and pages = 2`)).toBe(1);
    // Its lock is gone, as after a restart of Postgres, and another process takes the run up.
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 1
         and database = (select oid from pg_database where datname = current_database())`,
    );
    const { run: taken } = await openRun(db, { resource: 'referrals', mode: 'full' });
    expect(taken.attempt).toBe(2);
    sandbox.setFaults({ shares: {}, exact: [] });
    await expect(stalled).rejects.toThrow(/was taken over by another process/);
    expect(await count(`sync_runs where state = 'running' and attempt = 2 and pages = 2`)).toBe(1);
  });

  test('forgets nothing of what it has met for a process that wakes after another has taken it over', async () => {
    const { db, database, sync, sandbox, api } = given();
    await sync('affiliates');
    await sync('referrals');
    for (const { id } of (await sandbox.allReferrals()).slice(100, 103)) {
      await sandbox.program.deleteReferral(id);
    }
    const run = () =>
      database.pool.query(
        'select id, attempt, state, checkpoint, distinct_seen from sync_runs order by id desc limit 1',
      );
    const seen = () => count('seen_rows where run_id = (select max(id) from sync_runs)');
    const found: { run?: unknown; seen?: number } = {};
    const awaking: typeof api = {
      ...api,
      async list(resource, query, options) {
        if (query.filters === undefined || Object.keys(query.filters).length === 0) {
          return api.list(resource, query, options);
        }
        // What is missing is looked for. Where that is refused, the whole list is read again.
        await openRun(db, { resource: 'referrals', mode: 'full' });
        Object.assign(found, { run: (await run()).rows, seen: await seen() });
        throw makeRefusal('Affiliate not found', 404);
      },
    };
    const input = { resource: 'referrals', mode: 'full', acceptDeletes: false } as const;
    await expect(runSync({ ...given(), api: awaking, log }, input)).rejects.toThrow(/was taken over/);
    expect(found.run).toMatchObject([{ attempt: 2, state: 'running' }]);
    expect(found.seen).toBeGreaterThan(0);
    expect({ run: (await run()).rows, seen: await seen() }).toEqual(found);
  });

  test('starts its walk over where a crash of Postgres emptied what it had seen', async () => {
    const { sync, sandbox, database } = given();
    await sync('affiliates');
    sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', after: 4, times: 5 }] });
    await expect(sync('referrals')).rejects.toThrow();
    sandbox.setFaults({ shares: {}, exact: [] });
    await database.pool.query('truncate seen_rows');
    const total = (await sandbox.referrals('?limit=1')).pagination.total_count;
    expect(await sync('referrals')).toMatchObject({
      state: 'succeeded',
      verified: true,
      distinct_seen: total,
      // Every page and the head.
      requests: 9 + Math.ceil(total / 100) + 1,
    });
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
  });

  test('starts its walk over as well where it had outlived such a crash, and noted more since', async () => {
    const { sync, sandbox, database, api } = given();
    await sync('affiliates');
    let asked = 0;
    const crashing: typeof api = {
      ...api,
      async list(...request) {
        asked += 1;
        if (asked === 4) {
          await expect.poll(() => count(`sync_runs where pages = 3`)).toBe(1);
          await database.pool.query('truncate seen_rows');
        }
        if (asked === 6) throw new Error('stopped');
        return api.list(...request);
      },
    };
    const input = { resource: 'referrals', mode: 'full', acceptDeletes: false } as const;
    await expect(runSync({ ...given(), api: crashing, log }, input)).rejects.toThrow('stopped');
    // One line per batch, and a busy machine makes smaller batches.
    expect(await count('seen_rows')).toBeGreaterThan(0);
    const total = (await sandbox.referrals('?limit=1')).pagination.total_count;
    expect(await sync('referrals')).toMatchObject({
      state: 'succeeded',
      verified: true,
      distinct_seen: total,
    });
  });

  test('counts a record that it had rejected before such a crash once more, like any other', async () => {
    const { sandbox, database } = given();
    const run = await crashWithBrokenRecord();
    expect(await count('rejected_records')).toBe(1);
    await database.pool.query('truncate seen_rows');
    const total = (await sandbox.referrals('?limit=1')).pagination.total_count;
    expect(await run()).toMatchObject({
      state: 'succeeded',
      verified: true,
      distinct_seen: total,
      rows_rejected: 1,
    });
  });

  test('that rejected a record goes on from its checkpoint and counts it once', async () => {
    const { sandbox } = given();
    const run = await crashWithBrokenRecord();
    const total = (await sandbox.referrals('?limit=1')).pagination.total_count;
    // The head is read again at the end, and the broken record with it.
    expect(await run()).toMatchObject({
      state: 'succeeded',
      verified: true,
      distinct_seen: total,
      requests: 9 + 4,
      rows_rejected: 1,
      rows_inserted: total - 1,
    });
  });
});
