// An API that writes its identifiers in capitals, or now so and now so.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiClient, makeApiClient } from '../../src/api/client.ts';
import { OPTIONAL_LISTS } from '../../src/contract/optional-lists.ts';
import { LISTED_RESOURCES } from '../../src/contract/resources.ts';
import type { SyncMode } from '../../src/sync/run-summary.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { SECRET } from '../sandbox/running-sandbox.ts';
import { type AlteringProxy, startAlteringProxy } from '../support/altering-proxy.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { inCapitals } from '../support/in-capitals.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({
  spelling: 'neutral',
  affiliates: 12,
  referrals: 250,
  optionalLists: OPTIONAL_LISTS,
});

const asTheyAre = (body: string) => body;
const allInCapitals = (body: string) => inCapitals(body);
const someInCapitals = (body: string) => inCapitals(body, (place) => place % 3 === 0);

let alter = asTheyAre;
let proxy: AlteringProxy;
let api: ApiClient;

beforeAll(async () => {
  proxy = await startAlteringProxy(given().sandbox.url, (body) => alter(body));
  api = makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log: pino({ level: 'silent' }) },
    { url: proxy.url, secret: SECRET, timeoutMs: 5000 },
  );
});

afterAll(async () => {
  await api.close();
  await proxy.close();
});

async function syncAll(mode: SyncMode = 'full') {
  const runs = [];
  for (const resource of LISTED_RESOURCES) {
    const input = { resource, mode, concurrency: 1, acceptDeletes: false };
    runs.push(await runSync({ api, db: given().db, log: pino({ level: 'silent' }) }, input));
  }
  return runs;
}

/** Of every mirrored table, each row with the number of its last write. */
async function readRows() {
  const tables = ['campaigns', 'affiliates', 'links', 'referrals', 'sales', 'commissions', 'payouts'];
  const read = tables.map((table) =>
    given().database.pool.query(`select xmin::text, * from ${table} order by id`),
  );
  return (await Promise.all(read)).map(({ rows }) => rows);
}

test.each<[string, typeof alter, typeof alter]>([
  ['in capitals until now', allInCapitals, asTheyAre],
  ['in capitals from now on', asTheyAre, allInCapitals],
  ['some of them in capitals', allInCapitals, someInCapitals],
])(
  'records with identifiers %s are the rows that they were, and none is deleted',
  async (_, before, after) => {
    const { database, sandbox } = given();
    await database.pool.query(`
    truncate affiliates, campaigns, links, referrals, sales, commissions, payouts, sync_runs, seen_rows, record_history,
      covered_counters restart identity`);
    alter = before;
    for (const run of await syncAll()) expect(run).toMatchObject({ state: 'succeeded', verified: true });
    expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
    const rows = await readRows();
    alter = after;
    for (const mode of ['full', 'delta'] as const) {
      for (const run of await syncAll(mode)) {
        expect(run).toMatchObject({
          state: 'succeeded',
          rows_inserted: 0,
          rows_updated: 0,
          rows_rejected: 0,
          rows_deleted: 0,
        });
      }
    }
    expect(await readRows()).toEqual(rows);
  },
);
