// A cache in front of the program answers a sync from its store: nothing goes back to what it was, or is proved by it.

import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeApiClient } from '../../src/api/client.ts';
import { makeDecoding } from '../../src/decode/decode-page.ts';
import { makeSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { makeFirstLoad } from '../../src/mirror/send-rows.ts';
import { mirrorCommissions } from '../../src/payments/mirror-commissions.ts';
import { readById } from '../../src/sync/read-by-id.ts';
import { makeRunLoader } from '../../src/sync/run-loader.ts';
import { runSync, type SyncInput } from '../../src/sync/run-sync.ts';
import { SECRET } from '../sandbox/running-sandbox.ts';
import { startCachingProxy } from '../support/caching-proxy.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 20, referrals: 400, optionalLists: ['commissions'] });
const log = pino({ level: 'silent' });

/** The program behind a cache, and syncs of commissions through it; the client is a new process's each time. */
async function open() {
  const { sandbox, db } = given();
  const proxy = await startCachingProxy(sandbox.url);
  const connect = () => {
    const api = makeApiClient(
      { takePermit: makeUnlimitedPermits().takePermit, log },
      { url: proxy.url, secret: SECRET, timeoutMs: 5000 },
    );
    onTestFinished(() => api.close());
    return api;
  };
  const sync = (mode: SyncInput['mode'] = 'full') =>
    runSync({ api: connect(), db, log }, { resource: 'commissions', mode, acceptDeletes: true });
  return { proxy, connect, sync };
}

async function query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return (await given().database.pool.query(text, [...values])).rows as Row[];
}

async function pickUnpaid(): Promise<string> {
  const [row] = await query<{ id: string }>(
    'select id from sandbox.commissions where paid_at is null and voided_at is null order by id limit 1',
  );
  return row?.id ?? '';
}

const mirrored = (id: string) =>
  query<{ paid_at: string | null; _observed_at: string; _deleted_at: string | null }>(
    'select paid_at, _observed_at, _deleted_at from commissions where id = $1',
    [id],
  );

describe('a list that is an hour old', () => {
  test('takes no payment back: its run fails, and goes on once the API answers', async () => {
    const { proxy, sync } = await open();
    expect(await sync()).toMatchObject({ state: 'succeeded', verified: true });
    const id = await pickUnpaid();
    const { api, db } = given();
    const { commission, answeredAt } = await api.putCommission(id, { paid_at: '2026-05-01T00:00:00Z' });
    await db.transaction().execute((trx) => mirrorCommissions(trx, [{ commission, observedAt: answeredAt }]));
    const before = await mirrored(id);
    expect(before).toMatchObject([{ paid_at: '2026-05-01T00:00:00Z' }]);

    proxy.age(3600);
    for (const mode of ['full', 'delta'] as const) {
      await expect(sync(mode)).rejects.toMatchObject({ code: 'ANSWER_STORED' });
      expect(await mirrored(id)).toEqual(before);
    }

    proxy.clear();
    expect(await sync()).toMatchObject({ state: 'succeeded', verified: true });
    expect(await mirrored(id)).toMatchObject([{ paid_at: '2026-05-01T00:00:00Z' }]);
  });

  test('proves nothing by a 404 of that age: the commission is not gone', async () => {
    const { proxy, connect, sync } = await open();
    await sync();
    const { db } = given();
    const [one] = await query<{ id: string }>('select id from commissions order by id limit 1');
    const id = one?.id ?? '';
    const run = await startRun(db, { resource: 'commissions', mode: 'full' });
    const met = await query<{ id: string }>('select id from commissions where id <> $1 limit 5', [id]);
    const readers = { api: connect(), db, log };
    const before = { seen: makeSeenRows(), firstLoad: makeFirstLoad(false) };
    const of = { run, resource: 'commissions', ...before, signal: undefined } as const;
    const loader = makeRunLoader({ db, account: null, ...of });
    const decoding = makeDecoding('commissions');
    const read = (ids: readonly string[]) =>
      readById({ ...readers, loader, decoding, signal: undefined }, 'commissions', ids);
    // Those that are there answer as they should, so that a 404 would be believed.
    await read(met.map((row) => row.id));
    proxy.clear();
    proxy.plant(`/v1/commissions/${id}`, 404, '{"error":"Commission not found"}');
    proxy.age(0);
    expect(await read([id])).toMatchObject({ gone: { ids: [id] } });
    proxy.clear();
    proxy.plant(`/v1/commissions/${id}`, 404, '{"error":"Commission not found"}');
    proxy.age(3600);
    expect(await read([id])).toEqual({ gone: null, unreadable: [], unclear: 1 });
  });
});
