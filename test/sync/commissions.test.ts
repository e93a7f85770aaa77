// Full syncs of commissions, against a program that lists them.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { ContractViolation } from '../../src/errors.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { makeRefusal } from '../api/make-refusal.ts';
import {
  readMirror,
  readMirrorEarnings,
  readProgram,
  readProgramEarnings,
} from '../support/compare-with-program.ts';
import { listParsed } from './list-parsed.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({
  affiliates: 40,
  referrals: 1400,
  spelling: 'live',
  times: 'offset',
  optionalLists: ['commissions'],
});

beforeEach(async () => {
  await given().database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sales, commissions, sync_runs, seen_rows, held_back_deletions,
       record_history, covered_counters, rejected_records, schema_drift restart identity`,
  );
});

function syncWith(changed: Partial<ApiClient>) {
  const { api, db } = given();
  return runSync(
    { api: { ...api, ...changed }, db, log: pino({ level: 'silent' }) },
    { resource: 'commissions', mode: 'full', acceptDeletes: false },
  );
}

/** The program as a walk sees it that misses these, with a total to match: the verdict cannot know. */
function hiding(ids: readonly string[]): Pick<ApiClient, 'list'> {
  const { api } = given();
  return {
    async list(resource, query, options) {
      const { pagination, data, ...answer } = await api.list(resource, query, options);
      return {
        ...answer,
        pagination: { ...pagination, total_count: pagination.total_count - ids.length },
        data: data.filter((record) => !ids.includes((record as { id: string }).id)),
      };
    },
  };
}

async function deletedIds(): Promise<string[]> {
  const { rows } = await given().database.pool.query<{ id: string }>(
    'select id from commissions where _deleted_at is not null',
  );
  return rows.map(({ id }) => id);
}

test('a full sync leaves commissions and sales equal to the program’s, and what it learns beside them', async () => {
  const { sandbox, database, syncAll } = given();
  const runs = await syncAll();
  expect(runs.map(({ resource, state, rows_rejected }) => [resource, state, rows_rejected])).toEqual([
    ['affiliates', 'succeeded', 0],
    ['referrals', 'succeeded', 0],
    ['commissions', 'succeeded', 0],
  ]);
  const program = await readProgramEarnings(sandbox);
  expect(program.commissions.length).toBeGreaterThan(200);
  expect(await readMirrorEarnings(database.pool)).toEqual(program);
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});

test('nothing that was seen in the wild goes to _extra, is drift, or is rejected', async () => {
  const { database, syncAll } = given();
  await syncAll();
  for (const table of ['affiliates', 'campaigns', 'links', 'referrals', 'sales', 'commissions']) {
    const { rows } = await database.pool.query(`select _extra from ${table} where _extra is not null`);
    expect({ table, rows }).toEqual({ table, rows: [] });
  }
  expect((await database.pool.query('select * from schema_drift')).rows).toEqual([]);
  expect((await database.pool.query('select * from rejected_records')).rows).toEqual([]);
});

test('the commissions alone bring their sales, referrals, affiliates and campaigns as partial views', async () => {
  const { database, sandbox, sync } = given();
  await sync('commissions');
  expect(await readMirrorEarnings(database.pool)).toEqual(await readProgramEarnings(sandbox));
  const { rows } = await database.pool.query(
    `select count(*) as sold, count(r.id) as referrals, count(a.id) as affiliates, count(c.id) as campaigns
     from sales s left join referrals r on r.id = s.referral_id left join affiliates a on a.id = s.affiliate_id
       left join campaigns c on c.id = a.campaign_id`,
  );
  const [{ sold, ...others }] = rows;
  expect(others).toEqual({ referrals: sold, affiliates: sold, campaigns: sold });
});

test('a second sync writes nothing', async () => {
  const { sync, database } = given();
  await sync('commissions');
  const history = async () => (await database.pool.query('select * from record_history order by id')).rows;
  const before = await history();
  expect(await sync('commissions')).toMatchObject({ rows_inserted: 0, rows_updated: 0 });
  expect(await history()).toEqual(before);
});

describe('a commission that a walk does not meet', () => {
  test('is marked deleted where the program answers 404 for it, and keeps its content and history', async () => {
    const { sandbox, sync, database } = given();
    await sync('commissions');
    const { data } = await sandbox.commissions('?limit=12');
    for (const { id } of data) await sandbox.program.deleteCommission(id);
    const before = sandbox.requests.at(-1)?.number ?? 0;
    const run = await sync('commissions');
    expect(run).toMatchObject({ state: 'succeeded', rows_deleted: 12, deletes_held_back: 0 });
    expect((await deletedIds()).sort()).toEqual(data.map(({ id }) => id).sort());
    expect(run.requests).toBe((sandbox.requests.at(-1)?.number ?? 0) - before);
    const { rows } = await database.pool.query(
      `select change, run_id from record_history
       where table_name = 'commissions' and record_id = $1`,
      [data[0]?.id],
    );
    expect(rows).toEqual([{ change: 'deleted', run_id: run.id }]);
    expect(await readMirrorEarnings(database.pool)).toEqual(await readProgramEarnings(sandbox));
  });

  test('is not where the program answers it: that answer is mirrored', async () => {
    const { sandbox, sync, database } = given();
    await sync('commissions');
    const [first, second] = (await sandbox.commissions('?state=pending&limit=2')).data;
    if (first === undefined || second === undefined) throw new Error('nothing is pending');
    await sandbox.put(first.id, 'paid_at=2026-09-01T00:00:00Z');
    expect(await syncWith(hiding([first.id, second.id]))).toMatchObject({
      state: 'succeeded',
      rows_deleted: 0,
      deletes_held_back: 0,
      rows_updated: 1,
    });
    expect(await deletedIds()).toEqual([]);
    const { rows } = await database.pool.query('select paid_at from commissions where id = $1', [first.id]);
    expect(rows).toEqual([{ paid_at: '2026-09-01T00:00:00Z' }]);
  });

  test('is not where the program answers 404 for every commission: it is looked for by a second walk', async () => {
    const { sandbox, sync } = given();
    await sync('commissions');
    const [first] = (await sandbox.commissions('?limit=1')).data;
    let walks = 0;
    const { list } = hiding([first?.id ?? '']);
    const run = await syncWith({
      list: (resource, query, options) => {
        if (query.page === 1 && query.limit === 100) walks += 1;
        return walks > 2 ? given().api.list(resource, query, options) : list(resource, query, options);
      },
      getCommission: async () => {
        throw makeRefusal('no such route', 404);
      },
    });
    expect(run).toMatchObject({ verified: true, rows_deleted: 0 });
    expect(await deletedIds()).toEqual([]);
  });

  test('is held back, where the program’s own answer for it cannot be read, until somebody accepts its deletion', async () => {
    const { sandbox, sync, database } = given();
    await sync('commissions');
    const [first, second] = (await sandbox.commissions('?limit=2')).data.map(({ id }) => id);
    if (first === undefined || second === undefined) throw new Error('there are no commissions');
    await sandbox.program.deleteCommission(second);
    const { list } = hiding([first]);
    const getCommission: ApiClient['getCommission'] = (id, options) => {
      if (id === first) throw new ContractViolation('200 with a body that is not JSON');
      return given().api.getCommission(id, options);
    };
    const run = await syncWith({ list, getCommission });
    expect(run).toMatchObject({ state: 'partial', verified: true, rows_deleted: 1, deletes_held_back: 1 });
    expect(run.reason).toContain('1 deletion held back: the program answers for each of them by itself');
    expect(await deletedIds()).toEqual([second]);
    await database.pool.query("update held_back_deletions set accepted_at = now(), accepted_by = 'somebody'");
    expect(await syncWith({ list, getCommission })).toMatchObject({ state: 'succeeded', rows_deleted: 1 });
    expect((await deletedIds()).sort()).toEqual([first, second].sort());
  });

  test('is held back, where more are missing at once than the program was asked for one by one', async () => {
    const { sandbox, sync, database } = given();
    await sync('commissions');
    const gone = (await sandbox.commissions('?limit=40')).data.map(({ id }) => id);
    for (const id of gone) await sandbox.program.deleteCommission(id);
    expect(await sync('commissions')).toMatchObject({ state: 'partial', verified: true, rows_deleted: 10 });
    const { rows } = await database.pool.query(
      `select count(*) as count from held_back_deletions where resource = 'commissions' and record_id = any($1)`,
      [gone],
    );
    expect(rows).toEqual([{ count: 30 }]);
    expect(await sync('commissions', { acceptDeletes: true })).toMatchObject({ rows_deleted: 30 });
    expect(await readMirrorEarnings(database.pool)).toEqual(await readProgramEarnings(sandbox));
  });
});

test('a record that does not fit is rejected, and costs no other; a nested one costs not even its commission', async () => {
  const { api, database } = given();
  const list: ApiClient['list'] = async (resource, query, options) => {
    const page = await listParsed(api)(resource, query, options);
    if (query.page !== 1) return page;
    const [first, second, ...rest] = page.data as { sale: { affiliate: object } }[];
    if (first === undefined || second === undefined) throw new Error('the page is empty');
    const { sale } = second;
    const odd = { ...second, sale: { ...sale, affiliate: { ...sale.affiliate, visitors: 'many' } } };
    return { ...page, data: [{ ...first, amount: '12.50' }, odd, ...rest] };
  };
  const run = await syncWith({ list });
  expect(run).toMatchObject({ state: 'succeeded', verified: true, rows_rejected: 1 });
  const { rows } = await database.pool.query(
    'select resource, run_id from rejected_records order by resource',
  );
  expect(rows).toEqual([
    { resource: 'affiliates', run_id: run.id },
    { resource: 'commissions', run_id: run.id },
  ]);
  const counted = await database.pool.query('select count(*) as count from commissions');
  expect(counted.rows).toEqual([{ count: (run.total_upstream ?? 0) - 1 }]);
});
