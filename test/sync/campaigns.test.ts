// Syncs of campaigns, against a program that lists them, with the envelope and without, and one that does not.

import { pino } from 'pino';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type ApiClient, makeApiClient } from '../../src/api/client.ts';
import { ApiRejected } from '../../src/base/errors.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

const log = pino({ level: 'silent' });
const given = useSyncing({
  spelling: 'neutral',
  affiliates: 20,
  referrals: 60,
  optionalLists: ['campaigns'],
});

beforeEach(async () => {
  await given().database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sales, commissions, sync_runs, seen_rows, held_back_deletions,
       record_history, covered_counters, rejected_records, schema_drift restart identity;
     delete from sandbox.campaigns c where not exists (select from sandbox.affiliates where campaign_id = c.id)`,
  );
});

/** A client of the program as `alter` changes its list of campaigns. */
async function clientOf(alter: (list: { data: object[] }) => unknown, url = given().sandbox.url) {
  const proxy = await startAlteringProxy(url, async (body, path) =>
    path.startsWith('/v1/campaigns') && body.startsWith('{"pagination"')
      ? JSON.stringify(await alter(JSON.parse(body)))
      : body,
  );
  const api = makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url: proxy.url, secret: SECRET, timeoutMs: 5000, attempts: { most: 1 } },
  );
  onTestFinished(async () => {
    await api.close();
    await proxy.close();
  });
  return api;
}

/** Every campaign of the program, in the order of its list. */
async function listed(): Promise<object[]> {
  const pages: object[][] = [];
  for (let page = 1; pages.length < page; page += 1) {
    const { data, pagination } = await given().api.list('campaigns', { page, limit: 100 });
    pages.push(data as object[]);
    if (pagination.next_page === null) break;
  }
  return pages.flat();
}

/** It lists all at once, whatever page it is asked for. */
const withoutEnvelope = () => clientOf(listed);
const syncWith = (api: ApiClient) =>
  runSync({ api, db: given().db, log }, { resource: 'campaigns', mode: 'full', acceptDeletes: false });

async function select(what: string) {
  return (await given().database.pool.query(what)).rows;
}
const inMirror = () =>
  select('select id, name, _deleted_at is not null as is_deleted from campaigns order by id');
const inProgram = () => select('select id, name, false as is_deleted from sandbox.campaigns order by id');
const deleted = async () =>
  (await select('select id from campaigns where _deleted_at is not null')).map(({ id }) => id);
const addCampaigns = async (count: number) => {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1)
    ids.push((await given().sandbox.program.insertCampaign({ name: `Campaign ${made}` })).id);
  return ids;
};

describe.each([
  ['with the envelope', () => given().api],
  ['as a bare array', withoutEnvelope],
])('listed %s', (_how, open) => {
  test('a full sync mirrors every campaign, also one without affiliates, and marks what vanished', async () => {
    const api = await open();
    await given().syncBoth();
    const named = await inMirror();
    const [alone = ''] = await addCampaigns(1);
    // More than a page holds.
    await addCampaigns(130);
    expect(named.map(({ id }) => id)).not.toContain(alone);
    expect(await syncWith(api)).toMatchObject({ state: 'succeeded', verified: true });
    expect(await inMirror()).toEqual(await inProgram());
    await given().sandbox.program.deleteCampaign(alone);
    expect(await syncWith(api)).toMatchObject({ state: 'succeeded', rows_deleted: 1 });
    expect(await deleted()).toEqual([alone]);
    expect((await select(`select change from record_history where record_id = '${alone}'`)).at(-1)).toEqual({
      change: 'deleted',
    });
  });
});

test('a delta reads all of them', async () => {
  const { sync } = given();
  await sync('campaigns');
  const [alone = ''] = await addCampaigns(1);
  expect(await sync('campaigns', { mode: 'delta' })).toMatchObject({ state: 'succeeded', requests: 1 });
  await given().sandbox.program.deleteCampaign(alone);
  expect(await sync('campaigns', { mode: 'delta' })).toMatchObject({ rows_deleted: 1 });
  expect(await select(`select distinct reads_everything from sync_runs`)).toEqual([
    { reads_everything: true },
  ]);
});

test('not listed: a sync of the others goes on as before, and no campaign is marked', async () => {
  const { pool } = await createTestDatabase();
  const plain = await runSandbox(pool, { affiliates: 20, referrals: 60 });
  const api = await clientOf(() => [], plain.url);
  const { db } = given();
  const sync = (resource: 'affiliates' | 'campaigns') =>
    runSync({ api, db, log }, { resource, mode: 'full', acceptDeletes: false });
  await sync('affiliates');
  const known = (await inMirror()).length;
  expect(known).toBeGreaterThan(1);
  const refused: unknown = await sync('campaigns').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiRejected);
  // The only affiliates of one of them leave.
  const { rows } = await pool.query(
    'select id from sandbox.affiliates where campaign_id = (select min(campaign_id) from sandbox.affiliates)',
  );
  for (const { id } of rows) await plain.program.deleteAffiliate(id);
  expect(await sync('affiliates')).toMatchObject({ state: 'succeeded', rows_deleted: rows.length });
  expect(await deleted()).toEqual([]);
  expect(await inMirror()).toHaveLength(known);
  await plain.close();
});
