// A program that goes on naming records that its own lists no longer have.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { runSync } from '../../src/sync/run-sync.ts';
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
      { resource, mode: 'full', concurrency: 1, acceptDeletes: false },
    );
  const isDeleted = async () =>
    (
      await database.pool.query(
        'select _deleted_at is not null as is_deleted from affiliates where id = $1',
        [id],
      )
    ).rows[0].is_deleted;
  const gone = without(id);
  expect(await sync(gone, 'affiliates')).toMatchObject({ state: 'succeeded', verified: true, deleted: 1 });
  expect(await isDeleted()).toBe(true);
  for (let cycle = 0; cycle < 2; cycle += 1) {
    expect(await sync(gone, 'referrals')).toMatchObject({ state: 'succeeded' });
    expect(await isDeleted()).toBe(true);
    expect(await sync(gone, 'affiliates')).toMatchObject({ deleted: 0 });
  }
  expect(await sync(api, 'affiliates')).toMatchObject({ rows: { updated: 1 } });
  expect(await isDeleted()).toBe(false);
});
