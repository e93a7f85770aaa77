// Rows that a verified run did not meet: which the program confirms to be gone, which are held back, and what becomes
// of those that somebody accepts.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import type { Database } from '../../src/db/database.ts';
import { transact } from '../../src/db/transact.ts';
import { acceptHeldBack } from '../../src/mirror/held-back.ts';
import { type HeldBackRow, readHeldBack } from '../../src/reports/read-held-back.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { makeRefusal } from '../api/make-refusal.ts';
import { useSyncing } from './syncing.ts';

// Of 600 rows, up to 12 may be missing.
const given = useSyncing({ affiliates: 40, referrals: 600 });
const resource = 'referrals' as const;

beforeEach(async () => {
  await given().database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sales, commissions, sync_runs, seen_rows, held_back_deletions, record_history,
       covered_counters restart identity`,
  );
});

/** Returns the identifiers of living referrals of the program that were removed from it. */
async function removeReferrals(count: number, from = 100): Promise<readonly string[]> {
  const { sandbox } = given();
  const ids = (await sandbox.allReferrals()).slice(from, from + count).map(({ id }) => id);
  for (const id of ids) await sandbox.program.deleteReferral(id);
  return ids;
}

/** Returns a new affiliate of the program with so many visitors. */
async function addAffiliateWith(referrals: number): Promise<string> {
  const { program } = given().sandbox;
  const { id } = await program.insertAffiliate();
  for (let index = 0; index < referrals; index += 1) {
    await program.insertReferral({ affiliate_id: id, conversion_state: 'visitor' });
  }
  return id;
}

async function markedDeleted(): Promise<readonly string[]> {
  const { rows } = await given().database.pool.query(
    'select id from referrals where _deleted_at is not null order by id',
  );
  return rows.map(({ id }) => id);
}

async function held(db: Database, resources: readonly ListedResource[]): Promise<readonly HeldBackRow[]> {
  return (await readHeldBack({ db, mirrorSchema: 'mirror' }, resources)).rows;
}

async function heldBack(): Promise<readonly string[]> {
  return (await held(given().db, [resource])).map(({ record_id }) => record_id).toSorted();
}

const accept = (acceptedBy = 'somebody') =>
  transact(given().db, (trx) => acceptHeldBack(trx, { resource, acceptedBy }));

async function acceptances(): Promise<readonly object[]> {
  const { rows } = await given().database.pool.query(
    'select record_id, accepted_by, accepted_at from held_back_deletions order by 1',
  );
  return rows;
}

function syncWith(api: ApiClient, input: { acceptDeletes?: boolean } = {}) {
  return runSync(
    { api, db: given().db, log: pino({ level: 'silent' }) },
    { resource, mode: 'full', acceptDeletes: false, ...input },
  );
}

test('as many as 2 % of the table may be missing at once, and one more is too many', async () => {
  const { sync } = given();
  const { total_upstream: total } = await sync(resource);
  const most = Math.floor((total ?? 0) * 0.02);
  expect(most).toBeGreaterThan(10);
  const [last = '', ...gone] = await removeReferrals(most + 1);
  const run = await sync(resource);
  expect(run).toMatchObject({ state: 'partial', rows_deleted: 0, deletes_held_back: most + 1 });
  // The list and its head: what is too much is not looked for.
  expect(run.requests).toBe(Math.ceil((run.total_upstream ?? 0) / 100) + 1);
  await given().sandbox.program.insertReferral({ id: last });
  expect(await sync(resource)).toMatchObject({
    state: 'succeeded',
    rows_deleted: most,
    deletes_held_back: 0,
  });
  expect(await markedDeleted()).toEqual(gone.toSorted());
});

test('where the API lists no referrals any more, all are held back but those of an affiliate that is gone', async () => {
  const { api, syncBoth, sync, sandbox } = given();
  const affiliate = await addAffiliateWith(12);
  const [, { total_upstream: total = 0 } = {}] = await syncBoth();
  await sandbox.program.deleteAffiliate(affiliate);
  await sync('affiliates');
  const list: ApiClient['list'] = async (listed, query, options) => {
    const page = await api.list(listed, query, options);
    if (listed === 'affiliates') return page;
    const pagination = { ...page.pagination, count: 0, total_count: 0, total_pages: 0, next_page: null };
    return { ...page, data: [], pagination };
  };
  expect(await syncWith({ ...api, list })).toMatchObject({
    rows_deleted: 12,
    deletes_held_back: (total ?? 0) - 12,
  });
});

test('accepting the deletions of one resource accepts none of another', async () => {
  const { db, database } = given();
  await database.pool.query(
    `insert into held_back_deletions (resource, record_id, run_id)
     values ('referrals', 'one', 1), ('affiliates', 'other', 1)`,
  );
  expect(await accept()).toBe(1);
  const rows = await held(db, ['affiliates', resource]);
  expect(rows.map(({ record_id, accepted_at }) => [record_id, accepted_at !== null])).toEqual([
    ['other', false],
    ['one', true],
  ]);
});

test('what is held back is listed with its affiliate, newest first, and what the mirror no longer has last', async () => {
  const { syncBoth, sync, sandbox, db, database } = given();
  await syncBoth();
  const gone = (await sandbox.allReferrals()).slice(100, 120);
  for (const { id } of gone) await sandbox.program.deleteReferral(id);
  const { id: runId } = await sync(resource);
  await database.pool.query(
    "insert into held_back_deletions (resource, record_id, run_id) values ('referrals', 'unknown', $1)",
    [runId],
  );
  const rows = await held(db, [resource]);
  const { rows: mirrored } = await database.pool.query(
    `select id as record_id, affiliate_id, created_at from referrals where id = any($1)
     order by created_at desc, id`,
    [gone.map(({ id }) => id)],
  );
  expect(mirrored).toHaveLength(20);
  expect(rows).toMatchObject([...mirrored, { record_id: 'unknown', affiliate_id: null, created_at: null }]);
});

test('a commission that is held back is listed with the affiliate of its sale', async () => {
  const { sync, db, database } = given();
  const { id: runId } = await sync(resource);
  await database.pool.query(
    `with sale as (
       insert into sales (id, affiliate_id, _first_seen_at, _changed_at, _observed_at) values ('s', 'a', now(), now(), now())
     ), commission as (
       insert into commissions (id, sale_id, _first_seen_at, _changed_at, _observed_at) values ('c', 's', now(), now(), now())
     )
     insert into held_back_deletions (resource, record_id, run_id) values ('commissions', 'c', ${runId})`,
  );
  expect(await held(db, ['commissions'])).toMatchObject([{ record_id: 'c', affiliate_id: 'a' }]);
});

describe('a run that held deletions back', () => {
  test('ends as partial, though verified, with the number, the rows, and what to do', async () => {
    const { syncBoth, db, database } = given();
    await syncBoth();
    const gone = await removeReferrals(20);
    const reason = expect.stringMatching(
      /^20 deletions held back: more than 10 and more than 2 % .* "affiliate-mirror deletions accept referrals"$/,
    );
    const [, run] = await syncBoth();
    expect(run).toMatchObject({
      state: 'partial',
      verified: true,
      rows_deleted: 0,
      deletes_held_back: 20,
      reason,
    });
    const { rows } = await database.pool.query('select * from sync_runs order by id desc limit 1');
    expect(rows).toMatchObject([{ state: 'partial', verified: true, deletes_held_back: 20, error: reason }]);
    expect(await heldBack()).toEqual(gone.toSorted());
    expect(await markedDeleted()).toEqual([]);
    // It read everything: a delta finds nothing to read again.
    const [, delta] = await syncBoth({ mode: 'delta' });
    expect(delta).toMatchObject({ state: 'succeeded', plan: { strategy: 'delta', moved_affiliates: 0 } });
    expect(await heldBack()).toHaveLength(20);
    expect(await held(db, ['affiliates'])).toEqual([]);
  });

  test('has just those marked by the next run that were accepted and are still missing', async () => {
    const { syncBoth, sync, sandbox, database } = given();
    await syncBoth();
    const before = await database.pool.query('select * from sandbox.referrals');
    const gone = await removeReferrals(20);
    await sync(resource);
    expect(await accept()).toBe(20);
    const accepted = await acceptances();
    for (const row of accepted) expect(row).toMatchObject({ accepted_by: 'somebody' });
    expect(await accept('somebody else')).toBe(20);
    expect(await acceptances()).toEqual(accepted);
    expect(await markedDeleted()).toEqual([]);

    const [back, ...others] = gone;
    await sandbox.program.insertReferral(before.rows.find(({ id }) => id === back));
    const later = await removeReferrals(20, 300);
    expect(await sync(resource)).toMatchObject({ state: 'partial', rows_deleted: 19, deletes_held_back: 20 });
    expect(await markedDeleted()).toEqual(others.toSorted());
    expect(await heldBack()).toEqual(later.toSorted());
    const { rows } = await database.pool.query(
      `select record_id from record_history where change = 'deleted' order by record_id`,
    );
    expect(rows.map(({ record_id }) => record_id)).toEqual(others.toSorted());

    const again = await sync(resource);
    expect(again).toMatchObject({ state: 'partial', rows_deleted: 0, deletes_held_back: 20 });
    const rowsHeld = await held(given().db, [resource]);
    expect(new Set(rowsHeld.map(({ run_id }) => run_id))).toEqual(new Set([again.id]));
    expect(await accept()).toBe(20);
    expect(await sync(resource)).toMatchObject({
      state: 'succeeded',
      rows_deleted: 20,
      deletes_held_back: 0,
    });
    expect(await markedDeleted()).toEqual([...others, ...later].toSorted());
    expect(await heldBack()).toEqual([]);
    expect(await accept()).toBe(0);
  });

  test('marks nothing where the second look at the program comes to no end, and keeps what was accepted', async () => {
    const { syncBoth, sync, api } = given();
    await syncBoth();
    await removeReferrals(20);
    await sync(resource);
    await accept();
    let answers = 0;
    const contradicting: ApiClient = {
      ...api,
      async list(...request) {
        answers += 1;
        const page = await api.list(...request);
        const { pagination } = page;
        const pages = Math.ceil(pagination.total_count / 100);
        // From the second walk on, it states one record more than it serves.
        const more = answers > pages + 1 ? 1 : 0;
        return { ...page, pagination: { ...pagination, total_count: pagination.total_count + more } };
      },
    };
    expect(await syncWith(contradicting)).toMatchObject({
      state: 'partial',
      verified: true,
      rows_deleted: 0,
      deletes_held_back: 20,
      reason: expect.stringContaining('could not be looked for once more'),
    });
    expect(await markedDeleted()).toEqual([]);
    expect(await sync(resource)).toMatchObject({ state: 'succeeded', rows_deleted: 20 });
  });
});

describe('the referrals of an affiliate that is gone', () => {
  test('are gone where a second walk does not meet them either, and do not count as too many', async () => {
    const { syncBoth, sandbox } = given();
    const affiliate = await addAffiliateWith(30);
    await syncBoth();
    await sandbox.program.deleteAffiliate(affiliate);
    const others = await removeReferrals(5);
    const [, referrals] = await syncBoth();
    expect(referrals).toMatchObject({ state: 'succeeded', rows_deleted: 35, deletes_held_back: 0 });
    expect(await markedDeleted()).toEqual(expect.arrayContaining([...others]));
  });

  test('are marked, while too many others are held back', async () => {
    const { syncBoth, sandbox } = given();
    const affiliate = await addAffiliateWith(30);
    await syncBoth();
    await sandbox.program.deleteAffiliate(affiliate);
    const others = await removeReferrals(20);
    const [, referrals] = await syncBoth();
    expect(referrals).toMatchObject({ state: 'partial', rows_deleted: 30, deletes_held_back: 20 });
    expect(await heldBack()).toEqual(others.toSorted());
  });

  test('are found gone by a second walk where the program refuses to list a few of them', async () => {
    const { syncBoth, sync, sandbox, api } = given();
    const affiliate = await addAffiliateWith(4);
    await syncBoth();
    await sandbox.program.deleteAffiliate(affiliate);
    await sync('affiliates');
    const list: ApiClient['list'] = (listed, query, options) => {
      if (Object.values(query.filters ?? {}).includes(affiliate)) {
        throw makeRefusal('Affiliate not found', 404);
      }
      return api.list(listed, query, options);
    };
    expect(await syncWith({ ...api, list })).toMatchObject({
      state: 'succeeded',
      rows_deleted: 4,
    });
  });
});
