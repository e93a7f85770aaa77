// What is seen only in other records, once these name it no longer: it is gone once the whole list was read, and not
// before.

import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import { ApiUnavailable } from '../../src/errors.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 250, referrals: 300, optionalLists: ['commissions'] });

const query = async <T extends object>(text: string, values: readonly unknown[] = []): Promise<T[]> =>
  (await given().database.pool.query<T>(text, [...values])).rows;

beforeEach(async () => {
  await given().syncAll();
});
afterEach(async () => {
  // Whatever was done to the program, a full sync ends with the same.
  await given().syncAll();
  expect(await readMirror(given().database.pool)).toEqual(await readProgram(given().sandbox));
});

/** Of the newest and the oldest affiliate, which are on the first and the last page, and the newest's link. */
async function pickMove(): Promise<{ link: string; newest: string; oldest: string }> {
  const [move] = await query<{ link: string; newest: string; oldest: string }>(
    `select l.id as link, a.id as newest,
       (select id from sandbox.affiliates order by created_at, id limit 1) as oldest
     from sandbox.affiliates a join sandbox.links l on l.affiliate_id = a.id
     order by a.created_at desc, a.id desc limit 1`,
  );
  if (move === undefined) throw new Error('no affiliate has a link');
  return move;
}

async function changesOf(id: string): Promise<string[]> {
  const rows = await query<{ change: string }>(
    'select change from record_history where record_id = $1 order by id',
    [id],
  );
  return rows.map(({ change }) => change);
}

const isGone = async (table: 'links' | 'sales', id: string): Promise<boolean | undefined> =>
  (
    await query<{ gone: boolean }>(`select _deleted_at is not null as gone from ${table} where id = $1`, [id])
  )[0]?.gone;

const moveLink = (link: string, affiliate: string) =>
  query('update sandbox.links set affiliate_id = $2 where id = $1', [link, affiliate]);

function syncWith(changed: Partial<ApiClient>, resource: ListedResource) {
  const { api, db } = given();
  return runSync(
    { api: { ...api, ...changed }, db, log: pino({ level: 'silent' }) },
    { resource, mode: 'full', acceptDeletes: false },
  );
}

test('a link that moved to another affiliate is only changed, wherever the two are in the list', async () => {
  const { link, newest, oldest } = await pickMove();
  const before = await changesOf(link);
  await moveLink(link, oldest);
  expect(await given().sync('affiliates')).toMatchObject({ state: 'succeeded' });
  expect(await changesOf(link)).toEqual([...before, 'updated']);
  await moveLink(link, newest);
  expect(await given().sync('affiliates')).toMatchObject({ state: 'succeeded' });
  expect(await changesOf(link)).toEqual([...before, 'updated', 'updated']);
});

test('a run that fails before its end marks no link deleted, and one that is resumed marks those of before', async () => {
  const { api } = given();
  const { link, newest, oldest } = await pickMove();
  await moveLink(link, oldest);
  const failing: Pick<ApiClient, 'list'> = {
    list: async (resource, asked, options) => {
      if (asked.page === 3) throw new ApiUnavailable('down', 500);
      return api.list(resource, asked, options);
    },
  };
  await expect(syncWith(failing, 'affiliates')).rejects.toThrow('down');
  expect(await isGone('links', link)).toBe(false);
  // It is gone for good now: the resumed run need not read the first page again to know.
  await query('update sandbox.referrals set link_id = null where link_id = $1', [link]);
  await query('delete from sandbox.links where id = $1', [link]);
  expect(await given().sync('affiliates')).toMatchObject({ state: 'succeeded', is_resumed: true });
  expect([newest, await isGone('links', link)]).toEqual([newest, true]);
});

test('a run that is not verified marks no link deleted', async () => {
  const { api } = given();
  const { link, oldest } = await pickMove();
  await moveLink(link, oldest);
  const lying: Pick<ApiClient, 'list'> = {
    list: async (resource, asked, options) => {
      const page = await api.list(resource, asked, options);
      return asked.page === 1 ? page : { ...page, pagination: { ...page.pagination, current_page: 1 } };
    },
  };
  expect(await syncWith(lying, 'affiliates')).toMatchObject({ state: 'partial', verified: false });
  expect(await isGone('links', link)).toBe(false);
});

test('a sale goes when its commission has another one, or none', async () => {
  const [first, second] = await query<{ id: string; sale_id: string }>(
    `select id, sale_id from sandbox.commissions c
     where 1 = (select count(*) from sandbox.commissions o where o.sale_id = c.sale_id) order by id limit 2`,
  );
  if (first === undefined || second === undefined) throw new Error('too few commissions');
  await query('update sandbox.commissions set sale_id = $2, updated_at = now() where id = $1', [
    first.id,
    second.sale_id,
  ]);
  expect(await given().sync('commissions')).toMatchObject({ state: 'succeeded', rows_deleted: 0 });
  expect([await isGone('sales', first.sale_id), await isGone('sales', second.sale_id)]).toEqual([
    true,
    false,
  ]);
});

test('a link without an affiliate goes when its referral names it no longer', async () => {
  const { database } = given();
  const [referral] = await query<{ id: string; link_id: string }>(
    'select id, link_id from sandbox.referrals where link_id is not null order by id limit 1',
  );
  const other = 'd0000000-0000-4000-8000-0000000000ff';
  // As a payment would have shown it: in a referral, without its affiliate.
  await database.pool.query(
    `insert into links (id, url, token, visitors, leads, conversions, _first_seen_at, _observed_at, _changed_at)
     values ($1, 'u', 't', 1, 0, 0, now(), now(), stamp_changes())`,
    [other],
  );
  await query('update referrals set link_id = $2 where id = $1', [referral?.id, other]);
  expect(await given().sync('referrals')).toMatchObject({ state: 'succeeded' });
  expect(await isGone('links', other)).toBe(true);
  await query('delete from links where id = $1', [other]);
});
