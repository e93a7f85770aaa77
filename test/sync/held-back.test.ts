// Rows that a verified run did not meet: which the program confirms to be gone, which are held back, and what becomes
// of those that somebody accepts.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../src/contract/resources.ts';
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

describe('a run that held deletions back', () => {
  test('has each listed with whom it is about, unless the mirror keeps only hashes or nothing of people', async () => {
    const { db, database, syncBoth } = given();
    await syncBoth();
    await database.pool.query(`
      insert into held_back_deletions (resource, record_id, run_id)
      (select 'affiliates', id, 1 from affiliates where first_name <> '' order by id limit 1)
      union all (select 'referrals', r.id, 1 from referrals r join affiliates a on a.id = r.affiliate_id
                 where customer_name <> '' and a.first_name <> '' limit 1)
      union all (select 'campaigns', id, 1 from campaigns limit 1)
      union all select 'commissions', 'never stored', 1`);
    const known = (await held(db, LISTED_RESOURCES)).map(({ resource, created_at, changed_at, ...row }) => [
      resource,
      ...[row.name, row.email, row.affiliate_name, created_at, changed_at].map((value) => value !== null),
    ]);
    expect(known).toEqual([
      ['affiliates', true, true, false, true, true],
      ['campaigns', true, false, false, true, true],
      ['commissions', false, false, false, false, false],
      ['referrals', true, true, true, true, true],
    ]);
    for (const kept of [`'hmac:1f'`, 'null', `''`]) {
      await database.pool.query(`
        update affiliates set first_name = ${kept}, last_name = ${kept}, email = ${kept};
        update referrals set customer_name = ${kept}, customer_email = ${kept}`);
      const people = (await held(db, ['affiliates', 'referrals'])).flatMap((row) => [
        row.name,
        row.email,
        row.affiliate_name,
      ]);
      expect(people, kept).toEqual(Array(6).fill(null));
    }
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
