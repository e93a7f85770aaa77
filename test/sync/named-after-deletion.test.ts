// A program that goes on naming records that its own lists no longer have.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { listParsed } from './list-parsed.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 30, referrals: 120 });

/** Returns the client of a program whose list of affiliates lacks one; its referrals still name it. */
function without(affiliateId: string): ApiClient {
  const { api } = given();
  return {
    ...api,
    async list(resource, query, options) {
      const page = await api.list(resource, query, options);
      if (resource !== 'affiliates') return page;
      return {
        ...page,
        data: page.data.filter((record) => (record as { id: string }).id !== affiliateId),
        pagination: { ...page.pagination, total_count: page.pagination.total_count - 1 },
      };
    },
  };
}

test('an affiliate that referrals still name stays deleted until its own list has it again', async () => {
  const { database, db, api, syncBoth } = given();
  await syncBoth();
  const { rows } = await database.pool.query<{ id: string }>(
    'select affiliate_id as id from referrals group by 1 order by count(*) desc limit 1',
  );
  const [{ id } = { id: '' }] = rows;
  const sync = (client: ApiClient, resource: 'affiliates' | 'referrals') =>
    runSync(
      { api: client, db, log: pino({ level: 'silent' }) },
      { resource, mode: 'full', acceptDeletes: false },
    );
  const isDeleted = async () =>
    (
      await database.pool.query(
        'select _deleted_at is not null as is_deleted from affiliates where id = $1',
        [id],
      )
    ).rows[0].is_deleted;
  const gone = without(id);
  expect(await sync(gone, 'affiliates')).toMatchObject({
    state: 'succeeded',
    verified: true,
    rows_deleted: 1,
  });
  expect(await isDeleted()).toBe(true);
  for (let cycle = 0; cycle < 2; cycle += 1) {
    expect(await sync(gone, 'referrals')).toMatchObject({ state: 'succeeded' });
    expect(await isDeleted()).toBe(true);
    expect(await sync(gone, 'affiliates')).toMatchObject({ rows_deleted: 0 });
  }
  expect(await sync(api, 'affiliates')).toMatchObject({ rows_updated: 1 });
  expect(await isDeleted()).toBe(false);
});

/** Returns the client of a program that shows the records of one resource otherwise; `alter` changes each. */
function altering(of: 'affiliates' | 'referrals', alter: (record: Named) => void): ApiClient {
  const { api } = given();
  return {
    ...api,
    async list(resource, query, options) {
      const page = await listParsed(api)(resource, query, options);
      if (resource === of) for (const record of page.data) alter(record as Named);
      return page;
    },
  };
}

interface Named {
  id: string;
  affiliate?: { id: string } | null;
  link?: { id: string } | null;
  links: { id: string }[];
}

/** Returns the link that most referrals came through, and its affiliate. */
async function pickLink(): Promise<{ id: string; affiliate_id: string }> {
  const { rows } = await given().database.pool.query<{ id: string; affiliate_id: string }>(
    `select link_id as id, links.affiliate_id from referrals join links on links.id = link_id
     where links._deleted_at is null group by 1, 2 order by count(*) desc, 1 limit 1`,
  );
  const [link] = rows;
  if (link === undefined) throw new Error('no referral came through a link');
  return link;
}

async function changesOf(recordId: string): Promise<string[]> {
  const { rows } = await given().database.pool.query<{ change: string }>(
    'select change from record_history where record_id = $1 order by id',
    [recordId],
  );
  return rows.map(({ change }) => change);
}

test('a link that referrals still name stays deleted until its affiliate has it again', async () => {
  const { db, syncBoth } = given();
  await syncBoth();
  const { id } = await pickLink();
  const before = await changesOf(id);
  const gone = altering('affiliates', (record) => {
    record.links = record.links.filter((link) => link.id !== id);
  });
  const syncGone = (resource: 'affiliates' | 'referrals') =>
    runSync(
      { api: gone, db, log: pino({ level: 'silent' }) },
      { resource, mode: 'full', acceptDeletes: false },
    );
  for (let cycle = 0; cycle < 2; cycle += 1) {
    await syncGone('affiliates');
    await syncGone('referrals');
    expect(await changesOf(id)).toEqual([...before, 'deleted']);
  }
  await syncBoth();
  expect(await changesOf(id)).toEqual([...before, 'deleted', 'resurrected']);
});

test('a link stays its affiliate’s, although a referral that came through it is another’s by now', async () => {
  const { database, db, syncBoth } = given();
  await syncBoth();
  const { id, affiliate_id } = await pickLink();
  const before = await changesOf(id);
  const other = (
    await database.pool.query('select id from affiliates where id <> $1 order by id limit 1', [affiliate_id])
  ).rows[0].id;
  const moved = altering('referrals', (record) => {
    if (record.link?.id === id && record.affiliate) record.affiliate.id = other;
  });
  await runSync(
    { api: moved, db, log: pino({ level: 'silent' }) },
    { resource: 'referrals', mode: 'full', acceptDeletes: false },
  );
  const { rows } = await database.pool.query('select affiliate_id from links where id = $1', [id]);
  expect(rows).toEqual([{ affiliate_id }]);
  expect(await changesOf(id)).toEqual(before);
});
