// A page that cannot even be read: what is nested in it goes deeper than anybody can follow.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 8, referrals: 260 });
const DEPTH = 100_000;

/** The program with such a record on its first page. */
function nestDeeply(api: ApiClient): ApiClient {
  const deep: unknown = JSON.parse('['.repeat(DEPTH) + ']'.repeat(DEPTH));
  return {
    ...api,
    async list(resource, query, options) {
      const answer = await api.list(resource, query, options);
      if (query.page !== 1) return answer;
      const [first, ...others] = answer.data;
      return { ...answer, data: [{ ...(first as object), odd: deep }, ...others] };
    },
  };
}

// A rejection that nobody handles would end the process, and fails this file.
test('fails its run, which says so in the ledger, and not the process; the next run goes on', async () => {
  const { api, db, sync, sandbox, database } = given();
  await sync('affiliates');
  const failed = runSync(
    { api: nestDeeply(api), db, log: pino({ level: 'silent' }) },
    { resource: 'referrals', mode: 'full', concurrency: 2, acceptDeletes: false },
  );
  await expect(failed).rejects.toThrow(RangeError);
  const { rows } = await database.pool.query(
    `select state, rows_seen from sync_runs where resource = 'referrals'`,
  );
  expect(rows).toEqual([{ state: 'failed', rows_seen: 0 }]);
  expect(await sync('referrals')).toMatchObject({ state: 'succeeded', verified: true });
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});
