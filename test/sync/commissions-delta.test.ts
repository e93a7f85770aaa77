// Delta syncs of commissions: what is new, and what became of those that were pending or due.

import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import { runSync } from '../../src/sync/run-sync.ts';
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
      moved_records: expect.toSatisfy((moved: number) => moved > 0 && moved <= 6),
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
  expect(run.reason).toContain('that are no longer pending or due could not be read');
  expect(
    await database.pool.query('select count(*) as count from commissions where _deleted_at is not null'),
  ).toMatchObject({ rows: deleted.rows });
  expect(await delta()).toMatchObject({ state: 'succeeded', verified: true });
  await expectEqual();
});
