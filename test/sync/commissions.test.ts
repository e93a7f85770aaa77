// Full syncs of commissions, against a program that lists them.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { ContractViolation } from '../../src/base/errors.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { makeRefusal } from '../api/make-refusal.ts';
import { listParsed } from './list-parsed.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({
  affiliates: 40,
  referrals: 1400,
  spelling: 'live',
  times: 'offset',
  optionalLists: ['commissions'],
});

beforeEach(async () => {
  await given().database.pool.query(
    `truncate affiliates, campaigns, links, referrals, sales, commissions, sync_runs, seen_rows, held_back_deletions,
       record_history, covered_counters, rejected_records, schema_drift restart identity`,
  );
});

function syncWith(changed: Partial<ApiClient>) {
  const { api, db } = given();
  return runSync(
    { api: { ...api, ...changed }, db, log: pino({ level: 'silent' }) },
    { resource: 'commissions', mode: 'full', acceptDeletes: false },
  );
}

/** The program as a walk sees it that misses these, with a total to match: the verdict cannot know. */
function hiding(ids: readonly string[]): Pick<ApiClient, 'list'> {
  const { api } = given();
  return {
    async list(resource, query, options) {
      const { pagination, data, ...answer } = await listParsed(api)(resource, query, options);
      return {
        ...answer,
        pagination: { ...pagination, total_count: pagination.total_count - ids.length },
        data: data.filter((record) => !ids.includes((record as { id: string }).id)),
      };
    },
  };
}

async function deletedIds(): Promise<string[]> {
  const { rows } = await given().database.pool.query<{ id: string }>(
    'select id from commissions where _deleted_at is not null',
  );
  return rows.map(({ id }) => id);
}

describe('a commission that a walk does not meet', () => {
  test('is not where the program answers 404 for every commission: it is looked for by a second walk', async () => {
    const { sandbox, sync } = given();
    await sync('commissions');
    const [first] = (await sandbox.commissions('?limit=1')).data;
    let walks = 0;
    const { list } = hiding([first?.id ?? '']);
    const run = await syncWith({
      list: (resource, query, options) => {
        if (query.page === 1 && query.limit === 100) walks += 1;
        return walks > 2 ? given().api.list(resource, query, options) : list(resource, query, options);
      },
      getCommission: async () => {
        throw makeRefusal('no such route', 404);
      },
    });
    expect(run).toMatchObject({ verified: true, rows_deleted: 0 });
    expect(await deletedIds()).toEqual([]);
  });

  test('is held back, where the program’s own answer for it cannot be read, until somebody accepts its deletion', async () => {
    const { sandbox, sync, database } = given();
    await sync('commissions');
    const [first, second] = (await sandbox.commissions('?limit=2')).data.map(({ id }) => id);
    if (first === undefined || second === undefined) throw new Error('there are no commissions');
    await sandbox.program.deleteCommission(second);
    const { list } = hiding([first]);
    const getCommission: ApiClient['getCommission'] = (id, options) => {
      if (id === first) throw new ContractViolation('200 with a body that is not JSON');
      return given().api.getCommission(id, options);
    };
    const run = await syncWith({ list, getCommission });
    expect(run).toMatchObject({ state: 'partial', verified: true, rows_deleted: 1, deletes_held_back: 1 });
    expect(run.reason).toContain('1 deletion held back: the API answers for each of them by itself');
    expect(await deletedIds()).toEqual([second]);
    await database.pool.query("update held_back_deletions set accepted_at = now(), accepted_by = 'somebody'");
    expect(await syncWith({ list, getCommission })).toMatchObject({ state: 'succeeded', rows_deleted: 1 });
    expect((await deletedIds()).sort()).toEqual([first, second].sort());
  });
});
