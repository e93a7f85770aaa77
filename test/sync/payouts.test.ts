// Syncs of payouts, against a program that serves them, and what they say of commissions.

import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import type { SyncMode } from '../../src/sync/run-summary.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { readMirrorPayouts, readProgramPayouts } from '../support/compare-with-program.ts';
import { sized } from '../support/sizes.ts';
import { listParsed } from './list-parsed.ts';
import { useSyncing } from './syncing.ts';

const ROUNDS = sized(4, 12);
const given = useSyncing({
  affiliates: 500,
  referrals: 2500,
  optionalLists: ['commissions', 'payouts'],
});
const log = pino({ level: 'silent' });

beforeEach(async () => {
  await given().database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sales, commissions, payouts, sync_runs, seen_rows,
       held_back_deletions, record_history, covered_counters, rejected_records, schema_drift restart identity`,
  );
});

const sync = (resource: ListedResource, mode: SyncMode, api: Partial<ApiClient> = {}) =>
  runSync({ api: { ...given().api, ...api }, db: given().db, log }, { resource, mode, acceptDeletes: true });

async function syncBoth(mode: SyncMode, api: Partial<ApiClient> = {}) {
  return [await sync('commissions', mode, api), await sync('payouts', mode, api)];
}

async function expectEqual(): Promise<void> {
  const { database, sandbox } = given();
  expect(await readMirrorPayouts(database.pool)).toEqual(await readProgramPayouts(sandbox));
}

/** Has payouts made, paid at once, begun and dissolved, and a commission added to one; a sale brings another due one. */
async function happen(): Promise<void> {
  const { program } = given().sandbox;
  const ids = async (condition: string, count: number) => {
    const { rows } = await given().database.pool.query<{ id: string }>(
      `select id from sandbox.payouts where ${condition} order by md5(id || now()::text) limit ${count}`,
    );
    return rows.map(({ id }) => id);
  };
  for (const id of await ids(`state in ('pending', 'due')`, 1)) await program.deletePayout(id);
  const [grown, ...paid] = await ids(`state = 'due'`, 2);
  const { rows } = await given().database.pool.query<{ id: string }>(
    `select c.id from sandbox.commissions c join sandbox.payouts p using (affiliate_id, currency)
     where p.id = $1 and c.payout_id is distinct from p.id and c.paid_at is null limit 1`,
    [grown],
  );
  for (const { id } of rows) await program.addToPayout(grown ?? '', id);
  for (const id of paid) await program.finishPayout(id);
  for (const id of await ids(`state = 'due'`, 1)) await given().api.payPayout(id);
  // Without it the program runs out of commissions for payouts.
  const sold = await given().database.pool.query<{ id: string }>(
    'select referral_id as id from sandbox.sales order by md5(id || now()::text) limit 1',
  );
  const commission = { state: 'due', due_at: new Date().toISOString() };
  for (const { id } of sold.rows) await program.insertSale(id, { commission });
  await program.insertPayout();
}

test('payouts and commissions equal the program’s, while payouts are made, paid and dissolved under the walk', async () => {
  const { api, sandbox } = given();
  await sandbox.program.setProcessing(20);
  const moving: Partial<ApiClient> = {
    async list(...call) {
      const page = await api.list(...call);
      if (Math.random() < 0.3) await happen();
      return page;
    },
  };
  const planned = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const run of await syncBoth('full', moving)) expect(run).toMatchObject({ rows_rejected: 0 });
    await syncBoth('full');
    await expectEqual();
    await syncBoth('delta', moving);
    await happen();
    // What a walk may have missed of settled ones is all that is left to a full sync.
    await syncBoth('full');
    await happen();
    for (const run of await syncBoth('delta')) {
      expect(run).toMatchObject({ state: 'succeeded', verified: true });
      planned.add(`${run.resource} ${run.plan?.strategy}`);
    }
    await expect.poll(() => sandbox.allPayouts('state=processing')).toEqual([]);
    await syncBoth('delta');
    await expectEqual();
  }
  expect([...planned]).toEqual(expect.arrayContaining(['commissions delta', 'payouts delta']));
});

test('no difference from the contract is noticed, and every change is in the history', async () => {
  const { database, sandbox } = given();
  await syncBoth('full');
  const { rows } = await database.pool.query('select field, kind from schema_drift');
  expect(rows).toEqual([]);
  const payout = await sandbox.program.insertPayout();
  await sync('payouts', 'delta');
  await sandbox.program.deletePayout(payout.id);
  await sync('payouts', 'delta');
  const changes = await database.pool.query(
    `select change, after -> 'payout_id' as payout_id from record_history
     where record_id = $1 or record_id = any (
       select record_id from record_history where after ->> 'payout_id' = $1 limit 1) and after ? 'payout_id'
     order by id`,
    [payout.id],
  );
  expect(changes.rows).toEqual([
    { change: 'updated', payout_id: payout.id },
    { change: 'deleted', payout_id: null },
    { change: 'updated', payout_id: null },
  ]);
});

test('a payout whose affiliate or commission cannot be stored is stored all the same, and keeps that commission', async () => {
  const { api, sandbox, database } = given();
  await syncBoth('full');
  const [{ id = '', commissions = [] } = {}] = await sandbox.allPayouts('state=due&expand=commissions');
  await sandbox.program.updatePayout(id, { state: 'held' });
  const broken: Partial<ApiClient> = {
    async list(resource, query, options) {
      const answer = await listParsed(api)(resource, query, options);
      const data = (answer.data as { id: string; commissions: object[] }[]).map((record) =>
        record.id === id
          ? {
              ...record,
              affiliate: { id: 'none' },
              commissions: record.commissions.map((one) => ({ ...one, amount: 'much' })),
            }
          : record,
      );
      return { ...answer, data };
    },
  };
  expect(await sync('payouts', 'full', broken)).toMatchObject({ state: 'succeeded', rows_rejected: 0 });
  const { rows } = await database.pool.query(
    `select state, (select count(*)::int from commissions where payout_id = payouts.id) as commissions,
            (select array_agg(distinct resource order by resource) from rejected_records) as rejected
     from payouts where id = $1`,
    [id],
  );
  expect(rows).toEqual([
    { state: 'held', commissions: commissions.length, rejected: ['affiliates', 'commissions'] },
  ]);
  await sync('payouts', 'full');
  await expectEqual();
});
