// A full sync end to end, over HTTP and into Postgres: what it loads, counts, marks and resumes.

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openRun } from '../../src/mirror/runs/open-run.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { watchInsertions } from '../support/watch-insertions.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 40, referrals: 600 });

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

describe('a full sync', () => {
  test('makes the mirror equal to the program, verified, with counts that add up', async () => {
    const { syncBoth, sandbox, database } = given();
    const insertions = watchInsertions();
    onTestFinished(() => void vi.restoreAllMocks());
    const [affiliates, referrals] = await syncBoth();
    // The first run of an empty table inserts without comparing.
    expect(insertions().sent).toBeGreaterThan(0);
    expect(insertions().refused).toBe(0);
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
});
