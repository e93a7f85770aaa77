// What is seen only in other records, once these name it no longer: it is gone once the whole list was read, and not
// before.

import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { ApiUnavailable } from '../../src/base/errors.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
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
