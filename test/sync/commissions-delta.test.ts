// Delta syncs of commissions: what is new, and what became of those that were pending or due.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { mirrorCommissions } from '../../src/commissions/mirror-commissions.ts';
import { ContractViolation } from '../../src/errors.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { makeRefusal } from '../api/make-refusal.ts';
import { readMirrorEarnings, readProgramEarnings } from '../support/compare-with-program.ts';
import { sized } from '../support/sizes.ts';
import { listParsed } from './list-parsed.ts';
import { useSyncing } from './syncing.ts';

const REFERRALS = sized(2000, 3000);
const given = useSyncing({ affiliates: 60, referrals: REFERRALS, optionalLists: ['commissions'] });

beforeEach(async () => {
  expect(await given().sync('commissions')).toMatchObject({ state: 'succeeded', verified: true });
});

const delta = (api: ApiClient = given().api) =>
  runSync(
    { api, db: given().db, log: pino({ level: 'silent' }) },
    { resource: 'commissions', mode: 'delta', acceptDeletes: false },
  );

async function inState(state: string, count: number): Promise<string[]> {
  const { rows } = await given().database.pool.query<{ id: string }>(
    'select id from sandbox.commissions where state = $1 order by md5(id::text) limit $2',
    [state, count],
  );
  expect(rows).toHaveLength(count);
  return rows.map(({ id }) => id);
}

async function expectEqual(): Promise<void> {
  const { database, sandbox } = given();
  expect(await readMirrorEarnings(database.pool)).toEqual(await readProgramEarnings(sandbox));
}

const lastRequest = () => given().sandbox.requests.at(-1)?.number ?? 0;

test('brings payments made here and elsewhere, new commissions and deletions, within the requests it planned', async () => {
  const { api, db, sandbox, database } = given();
  const [here, elsewhere, refunded, deleted] = [
    await inState('due', 12),
    await inState('pending', 3),
    await inState('due', 14).then((ids) => ids.slice(12)),
    await inState('pending', 4).then((ids) => ids.slice(3)),
  ];
  for (const id of here) {
    const { commission, answeredAt } = await api.putCommission(id, { paid_at: '2026-09-01T00:00:00Z' });
    await db.transaction().execute((trx) => mirrorCommissions(trx, [{ commission, observedAt: answeredAt }]));
  }
  for (const id of elsewhere) await sandbox.put(id, 'paid_at=2026-09-02T00:00:00Z');
  for (const id of refunded) {
    await sandbox.program.updateCommission(id, { state: 'voided', voided_at: '2026-09-03T00:00:00Z' });
  }
  for (const id of deleted) await sandbox.program.deleteCommission(id);
  const [again] = await inState('paid', 1);
  await sandbox.put(again ?? '', 'paid_at=');
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from sandbox.referrals where conversion_state = 'conversion' limit 2`,
  );
  for (const { id } of rows) await sandbox.program.insertSale(id);

  const before = lastRequest();
  const run = await delta();
  const requests = lastRequest() - before;
  expect(run).toMatchObject({
    state: 'succeeded',
    verified: true,
    rows_deleted: 1,
    plan: {
      strategy: 'delta',
      moved_commissions: expect.toSatisfy((moved: number) => moved > 0 && moved <= 6),
    },
    rows_inserted: 2,
    rows_rejected: 0,
  });
  await expectEqual();
  expect(run.requests).toBe(requests);
  expect(requests).toBeLessThanOrEqual(run.plan?.expected_requests ?? 0);
  expect(run.plan?.expected_requests).toBeLessThan(run.plan?.full_walk_requests ?? 0);
});

/** New commissions that are settled already: only the head of the list shows them. Returns the newest first. */
async function insertPaid(count: number): Promise<string[]> {
  const { sandbox, database } = given();
  const { rows } = await database.pool.query<{ id: string }>(
    "select id from sandbox.referrals where conversion_state = 'conversion' limit $1",
    [count],
  );
  const ids: string[] = [];
  for (const { id } of rows) {
    const paid = { state: 'paid', paid_at: '2026-09-02T00:00:00Z' };
    const { commission } = await sandbox.program.insertSale(id, { commission: paid });
    ids.unshift(commission.id);
  }
  return ids;
}

async function countMirrored(ids: readonly string[]): Promise<number> {
  const answer = 'select count(*)::int as count from commissions where id = any($1)';
  return (await given().database.pool.query(answer, [ids])).rows[0].count;
}

test('brings all that is new behind a page of which every record was rejected', async () => {
  const { api } = given();
  const ids = await insertPaid(150);
  const spoiled = new Set(ids.slice(0, 100));
  const spoiling: ApiClient = {
    ...api,
    async list(resource, query, options) {
      const answer = await listParsed(api)(resource, query, options);
      const data = (answer.data as { id: string }[]).map((record) =>
        spoiled.has(record.id) ? { ...record, amount: 'much' } : record,
      );
      return { ...answer, data };
    },
  };
  expect(await delta(spoiling)).toMatchObject({ verified: true, rows_inserted: 50, rows_rejected: 100 });
  await given().sync('commissions');
  await expectEqual();
});

test('brings all that is new after a delta that was stopped in the middle of the head', async () => {
  const { sandbox } = given();
  await insertPaid(150);
  sandbox.setFaults({ shares: {}, exact: [{ kind: '5xx', after: 1, times: 5 }] });
  await expect(delta()).rejects.toThrow(/50\d/);
  sandbox.setFaults({ shares: {}, exact: [] });
  expect(await delta()).toMatchObject({ state: 'succeeded', verified: true, plan: { strategy: 'delta' } });
  await expectEqual();
});

test('brings all that is new although one is deleted while the head is read, which pulls the others forward', async () => {
  const { api, sandbox, sync } = given();
  const ids = await insertPaid(150);
  let answers = 0;
  const list: ApiClient['list'] = async (...call) => {
    const page = await api.list(...call);
    answers += 1;
    if (answers === 1) await sandbox.program.deleteCommission(ids[0] ?? '');
    return page;
  };
  expect(await delta({ ...api, list })).toMatchObject({ state: 'succeeded', verified: true });
  expect(await countMirrored(ids)).toBe(150);
  await sync('commissions');
  await expectEqual();
});

test('brings all that is new although the program once answers another page than the one asked for', async () => {
  const { api } = given();
  await insertPaid(150);
  let calls = 0;
  const list: ApiClient['list'] = (resource, query, options) => {
    calls += 1;
    return api.list(resource, calls === 1 ? { ...query, page: 3 } : query, options);
  };
  expect(await delta({ ...api, list })).toMatchObject({ state: 'succeeded', verified: true });
  await expectEqual();
});

test('is not verified where the head of the list came to no end, though all else was read', async () => {
  const { api } = given();
  let calls = 0;
  const list: ApiClient['list'] = (resource, query, options) => {
    calls += 1;
    return api.list(resource, calls <= 3 ? { ...query, page: (query.page ?? 1) + 1 } : query, options);
  };
  const run = await delta({ ...api, list });
  expect(run).toMatchObject({ state: 'partial', verified: false, plan: { strategy: 'delta' } });
  expect(run.reason).toContain('the program contradicts itself');
});

test('costs the head and the list of those that are pending or due, where nothing changed', async () => {
  const before = lastRequest();
  const run = await delta();
  const { rows } = await given().database.pool.query(
    `select ceil(count(*) / 100.0)::int as pages from sandbox.commissions where state in ('pending', 'due')`,
  );
  expect(run).toMatchObject({ rows_inserted: 0, rows_updated: 0, plan: { moved_commissions: 0 } });
  expect(lastRequest() - before).toBe(1 + rows[0].pages);
});

test('does not see what happens to those that are settled, as it says; a full sync does', async () => {
  const { sandbox, sync, database } = given();
  const [id = ''] = await inState('paid', 1);
  await sandbox.program.updateCommission(id, { amount: 4711 });
  await delta();
  const amount = async () =>
    (await database.pool.query('select amount from commissions where id = $1', [id])).rows[0].amount;
  expect(await amount()).not.toBe(4711);
  await sync('commissions');
  expect(await amount()).toBe(4711);
});

describe('reads everything', () => {
  test('where more moved than a full walk costs', async () => {
    const { sandbox } = given();
    const { total_count } = (await sandbox.commissions('?limit=1')).pagination;
    for (const id of await inState('due', Math.ceil(total_count / 100) + 1)) {
      await sandbox.put(id, 'paid_at=2026-09-01T00:00:00Z');
    }
    expect(await delta()).toMatchObject({ state: 'succeeded', verified: true, plan: { strategy: 'full' } });
    await expectEqual();
  });

  test('where the program does not know the filter', async () => {
    const { api, sandbox } = given();
    const [id = ''] = await inState('due', 1);
    await sandbox.put(id, 'paid_at=2026-09-01T00:00:00Z');
    const ignoring: ApiClient = {
      ...api,
      list: (resource, { filters: _, ...query }, options) => api.list(resource, query, options),
    };
    const run = await delta(ignoring);
    expect(run).toMatchObject({ state: 'succeeded', verified: true, plan: { strategy: 'full' } });
    expect(run.requests).toBeLessThanOrEqual(run.plan?.expected_requests ?? 0);
    await expectEqual();
  });

  test('where everything was never read', async () => {
    const { database } = given();
    await database.pool.query('truncate sync_runs, seen_rows, commissions, sales');
    expect(await delta()).toMatchObject({ state: 'succeeded', plan: { strategy: 'full' } });
    await expectEqual();
  });
});

test.each([
  ['404 for all', makeRefusal('no such route', 404)],
  ['a refusal', makeRefusal('not now', 422)],
  ['something unreadable', new ContractViolation('200 with a body that is not JSON')],
])('is not verified where the answer for one that moved is $0, and marks none deleted', async (_, answer) => {
  const { api, sandbox, database } = given();
  for (const id of await inState('due', 2)) await sandbox.put(id, 'paid_at=2026-09-01T00:00:00Z');
  const getCommission: ApiClient['getCommission'] = async () => {
    throw answer;
  };
  const run = await delta({ ...api, getCommission });
  expect(run).toMatchObject({ state: 'partial', verified: false, rows_deleted: 0 });
  expect(run.reason).toContain('2 that are no longer pending or due could not be read');
  const { rows } = await database.pool.query('select from commissions where _deleted_at is not null');
  expect(rows).toHaveLength(0);
  expect(await delta()).toMatchObject({ state: 'succeeded', verified: true });
  await expectEqual();
});

test('marks none deleted for 404s to everything that begin after a good answer and end before another', async () => {
  const { api, sandbox, database } = given();
  for (const id of await inState('due', 8)) await sandbox.put(id, 'paid_at=2026-09-01T00:00:00Z');
  const deleted = await database.pool.query(
    'select count(*) as count from commissions where _deleted_at is not null',
  );
  let reads = 0;
  const getCommission: ApiClient['getCommission'] = (id, options) => {
    reads += 1;
    // The third, the one that is to confirm it, and one more: what is asked for next would confirm that one.
    return api.getCommission(reads > 2 && reads < 6 ? `${id}-lost` : id, options);
  };
  const run = await delta({ ...api, getCommission });
  expect(run).toMatchObject({ state: 'partial', verified: false, rows_deleted: 0 });
  expect(
    await database.pool.query('select count(*) as count from commissions where _deleted_at is not null'),
  ).toMatchObject({ rows: deleted.rows });
  expect(await delta()).toMatchObject({ state: 'succeeded', verified: true });
  await expectEqual();
});

test('keeps what an earlier run held back', async () => {
  const { database } = given();
  await database.pool.query(
    `insert into held_back_deletions (resource, record_id, run_id) values ('commissions', 'somebody', 1)`,
  );
  const [id = ''] = await inState('due', 1);
  await given().sandbox.program.deleteCommission(id);
  expect(await delta()).toMatchObject({ state: 'succeeded', rows_deleted: 1 });
  expect((await database.pool.query('select record_id from held_back_deletions')).rows).toHaveLength(1);
  await given().sync('commissions');
  expect((await database.pool.query('select record_id from held_back_deletions')).rows).toEqual([]);
});
